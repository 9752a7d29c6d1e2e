// The blocks, instructions and lines of the program that a kernel spends its time in; on demand,
// since the kernel is run for it.

import { button, counted, h } from "../../kit/dom.js";
import { percent } from "../../kit/words.js";
import { KernelQuestion } from "./kernelquestion.js";

const QUESTION = {
  request: "hot", label: "Where the time goes",
  title: "Runs this kernel on the program's data: the share of each block, instruction and line",
};
const SHOWN = 0.0005; // of the kernel's time: a choice, less is no more than a sample or two
const LINES = 4;

/** A share in few figures, one under the other: "12.3 %". */
const figure = (share) => `${(100 * share).toFixed(1)} %`;

/** A share in words: never 0 for what is not. */
function shareWords(share) {
  return share < SHOWN ? `< ${percent(SHOWN)}` : percent(share);
}

export class Hot extends KernelQuestion {
  constructor(store, onChange) {
    super(store, QUESTION, onChange);
    this.list = h("ul", { class: "hot-lines", "aria-label": "Hot spots" });
  }

  /** The line above the code: the source of the shares, or why there are none. */
  words(kernel) {
    const problem = this.problemOf(kernel);
    if (problem) return ` No shares of the time: ${problem}`;
    const found = this.known.get(kernel);
    return found ? ` Shares of the kernel's time, ${found.how}.` : "";
  }

  /** The share of a line of assembly as the row of a pane has it. */
  share(found, line) {
    const share = found?.rows[line] ?? 0;
    if (share < SHOWN) return null;
    const how = found.measured ? "measured" : "estimated";
    return [figure(share), `${percent(share)} of the kernel's time, ${how}`, share];
  }

  /** The head of a block: "81 % of the time, the most". */
  blockWords(found, block) {
    if (!found) return "";
    const { blocks, runs } = found;
    const most = Math.max(...blocks);
    const share = blocks[block];
    if (!share) return runs.length && !runs[block] ? "never run" : "";
    return [
      `${shareWords(share)} of the time${share === most ? ", the most" : ""}`,
      runs.length > 0 && counted(runs[block], "run"),
    ].filter(Boolean).join(", ");
  }

  /** The same with a bar. */
  block(found, block) {
    const words = this.blockWords(found, block);
    if (!words) return null;
    const share = found.blocks[block];
    const isMost = share === Math.max(...found.blocks);
    return h("span", { class: `block-share ${isMost ? "is-most" : ""}` },
      h("span", { class: "share-bar", "aria-hidden": "true" },
        h("span", { style: `width:${100 * share}%` })),
      words);
  }

  /**
   * The block and the lines of the program that cost most, each a way to it.
   * @param found the answer; null hides them
   * @param flow the blocks of the code
   * @param {(block: number) => void} showBlock
   */
  showWays(found, flow, showBlock) {
    this.list.hidden = !found;
    if (!found) return;
    const most = found.blocks.indexOf(Math.max(...found.blocks));
    const way = button(flow.blocks[most][0], () => showBlock(most), {
      class: "entity-link", title: "show the block",
    });
    this.list.replaceChildren(
      h("li", {}, h("b", {}, shareWords(found.blocks[most])), " in block ", way),
      ...found.lines.slice(0, LINES).map(([share, place, text, entity]) =>
        h("li", {}, h("b", {}, shareWords(share)), " ", this.line(place, text, entity))));
  }

  line(place, text, entity) {
    if (!place) return "instructions without a source line";
    const words = [h("span", { class: "finding-place" }, place), " ", h("code", {}, text)];
    if (!this.store.model.numbers.has(entity)) return h("span", {}, ...words);
    const show = () => this.store.set({ stage: "source", selected: entity });
    const node = button("", show, { class: "entity-link", title: "show the line" });
    node.append(...words);
    return node;
  }
}
