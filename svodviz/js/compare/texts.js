// The printed lines of one stage side by side; long runs of equal lines are folded.

import { button, count, counted, h } from "../kit/dom.js";
import { differing, MOST_ROWS, nextOf, rowsOf, SIDES } from "./difference.js";

const SIGNS = { a: "−", b: "+", changed: "~" };

export class TextsTab {
  constructor(comparison) {
    this.comparison = comparison;
    this.opened = new Map();
    this.at = -1;
    this.root = h("div", { class: "compare-texts", tabindex: "0" });
  }

  get key() {
    const { stage, unit } = this.comparison.state;
    return `${stage} ${unit}`;
  }

  show() {
    if (this.shown === this.key) return;
    this.shown = this.key;
    this.at = -1;
    this.fill();
    this.root.scrollTop = 0;
  }

  fill() {
    const { pair, models, state } = this.comparison;
    const lines = SIDES.map((side, at) =>
      models[at].stageById.get(state.stage).units[pair[side]]?.lines || []);
    // If nothing differs all lines are shown: a page of folded ones would be empty.
    const isSame = pair.blocks.every(([tag]) => tag === "equal");
    const opened = isSame ? new Set(pair.blocks.map(([, start]) => start))
      : this.opened.get(this.key);
    const rows = rowsOf(pair.blocks, opened);
    const shown = rows.slice(0, MOST_ROWS);
    this.positions = shown.flatMap((row, at) =>
      (row.type in SIGNS && shown[at - 1]?.type !== row.type ? [at] : []));
    this.grid = h("div", { class: "diff", role: "table", "aria-label": "Lines of both" },
      ...shown.map((row) => this.row(row, lines)));
    this.root.replaceChildren(...[
      isSame && h("p", { class: "note diff-same" },
        "No line differs, but for numbers that follow from counting."),
      this.grid,
      rows.length > MOST_ROWS && h("p", { class: "note" },
        `${counted(rows.length - MOST_ROWS, "more row")} not shown`),
    ].filter(Boolean));
  }

  row(row, [a, b]) {
    if (row.type === "gap") return this.gap(row);
    const texts = [a[row.a]?.[0], b[row.b]?.[0]];
    const spans = row.type === "changed" ? differing(...texts) : null;
    return h("div", { class: `diff-row ${row.type}`, role: "row" },
      ...SIDES.flatMap((side, at) => {
        const number = [row.a, row.b][at];
        const isMissing = texts[at] === undefined;
        return [
          h("span", { class: "number", role: "rowheader" }, isMissing ? "" : String(number + 1)),
          h("span", { class: "sign", role: "cell" },
            isMissing || row.type === "equal" ? "" : SIGNS[row.type]),
          h("code", { class: isMissing ? "missing" : null, role: "cell" },
            ...(isMissing ? [] : pieces(texts[at], spans, at))),
        ];
      }));
  }

  gap({ hidden: [start, , length] }) {
    return h("div", { class: "diff-row gap", role: "row" }, h("span", { role: "cell" },
      button(`… ${count(length)} equal lines: show them`, () => {
        const opened = this.opened.get(this.key) || new Set();
        this.opened.set(this.key, opened.add(start));
        this.fill();
        this.root.focus();
      })));
  }

  step(by) {
    this.at = nextOf(this.positions, this.at, by);
    const row = this.grid.children[this.at];
    [...this.grid.children].forEach((it) => it.classList.toggle("current", it === row));
    row?.scrollIntoView({ block: "center" });
  }

  status() {
    const { pair } = this.comparison;
    const total = (tags, from) => pair.blocks.filter(([tag]) => tags.includes(tag))
      .reduce((sum, block) => sum + block[from + 1] - block[from], 0);
    const [gone, come] = [total(["delete", "replace"], 1), total(["insert", "replace"], 3)];
    const place = this.at >= 0
      ? ` · difference ${this.positions.indexOf(this.at) + 1} of ${this.positions.length}` : "";
    return `${counted(total(["equal"], 1), "line")} equal except for numbering`
      + `, ${gone} only in a, ${come} only in b${place}`;
  }
}

/** A line with the part marked in which it differs from its partner. */
function pieces(text, spans, at) {
  if (!spans) return [text];
  const [start, end] = [spans[0], spans[1 + at]];
  return [text.slice(0, start), end > start && h("mark", {}, text.slice(start, end)),
    text.slice(end)].filter(Boolean);
}
