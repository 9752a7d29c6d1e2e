// Machine code as blocks with jumps and loops, of this machine or another, next to its LLVM IR.

import { button, count, counted, h, s } from "../../kit/dom.js";
import { assemblyOf } from "../../kit/tokens.js";
import { ROW, TextPane } from "../text/textpane.js";
import { blockRows, loopsOf, tracks, wordsOf } from "./blocks.js";
import { CodePane, lineOfIr } from "./codepane.js";
import { Hot } from "./hot.js";
import { Latencies } from "./latencies.js";

const TRACK = 9;
const HERE = "";

export class MachineView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.build();
  }

  get machine() {
    return this.store.state.machine;
  }

  build() {
    const { model, requests } = this.store;
    const machines = model.machines.filter(([id]) =>
      requests.offers("assembly_for", { machine: id }));
    this.choice = h("select", {
      "aria-label": "Machine",
      onchange: () => this.store.set({ machine: this.choice.value }),
    }, h("option", { value: HERE }, "this machine"),
    ...machines.map(([id, title]) => h("option", { value: id }, title)));
    this.choice.hidden = machines.length === 0;
    this.words = h("p", { class: "machine-words", role: "status" });
    this.latencies = new Latencies(this.store, () => this.show());
    this.hot = new Hot(this.store, () => this.show());
    this.pane = new CodePane(this.store, { label: "Machine code" });
    this.gutter = s("svg", { class: "jumps", "aria-hidden": "true" });
    this.pane.body.before(this.gutter);
    this.source = new TextPane(this.store);
    this.sourceTitle = h("h4", {});
    this.notes = h("ul", { class: "machine-notes", "aria-label": "Inner loops, and their cost" });
    this.root = h("div", { class: "machine-view" },
      h("div", { class: "machine-head" }, this.choice, this.hot.button, this.latencies.button,
        this.words, this.notes, this.hot.list),
      h("div", { class: "machine-panes" },
        h("section", { class: "machine-code" }, this.pane.root),
        h("section", { class: "machine-source" }, this.sourceTitle, this.source.root)));
  }

  show() {
    this.source.show("llvm");
    this.choice.value = this.machine;
    this.sourceTitle.textContent = this.machine === HERE ? "LLVM IR it was compiled from"
      : "LLVM IR of the code that runs here";
    if (this.machine === HERE) this.presentOwn();
    else {
      this.latencies.hide();
      this.hot.hide();
      this.hot.showWays(null);
      this.ask();
    }
    this.source.revealSelection();
  }

  presentOwn() {
    const { stage, state, model } = this.store;
    const unit = stage.units[state.unit];
    this.showNotes();
    if (!unit) {
      this.say(stage.missing || "There is no kernel.");
      return;
    }
    const costs = this.latencies.of(unit.name);
    const hot = this.hot.of(unit.name);
    this.hot.showWays(hot, unit.flow, (block) => this.pane.scrollTo(this.tops[block]));
    const lines = unit.lines.map(([text, entity], index) => ({
      text, entity, number: index + 1, aside: this.latencies.aside(costs, index),
      share: hot ? this.hot.share(hot, index) : undefined,
    }));
    const level = model.kernelByName.get(unit.name);
    const how = level?.level ? ` Made by ${level.level}.` : "";
    const words = `${this.hot.words(unit.name)}${this.latencies.words(unit.name)}`;
    this.display(`own ${state.unit} ${words}`, lines, unit.flow,
      `The code that runs here.${how}${words}`, hot);
  }

  ask() {
    const { machine } = this;
    this.wanted = machine;
    this.say("Asking LLVM …");
    const isWanted = () => this.machine === machine;
    this.store.requests.ask("assembly_for", { machine }, (words) => isWanted() && this.say(words))
      .then((answer) => {
        if (isWanted() && answer.problem) this.say(answer.problem);
        else if (isWanted()) this.presentOther(answer);
      }, (error) => {
        if (isWanted()) this.say(this.reason(error));
      });
  }

  reason(error) {
    return this.store.requests.isLive ? error.message
      : `${error.message} LLVM writes this only where Python is there: ${
        this.store.requests.howTo("machine_code")}.`;
  }

  presentOther({ machine, units }) {
    const unit = units[this.store.state.unit] || units[0];
    const [, , note] = this.store.model.machines.find(([id]) => id === machine);
    if (!unit) {
      this.say("There is no kernel.");
      return;
    }
    const lines = unit.lines.map(([text, ...from], index) => ({
      text, number: index + 1, entity: lineOfIr(this.store.model, unit.number, from[0]),
    }));
    this.display(`${machine} ${unit.name}`, lines, unit.flow, `For reading only. ${note}`);
    this.showNotes(unit);
  }

  /** The loops of another machine, and the time of the inner one, with a link to it. */
  showNotes({ figures = [], inner = -1 } = {}) {
    this.notes.hidden = figures.length === 0;
    this.notes.replaceChildren(...figures.map((words) => h("li", {}, words)));
    if (inner >= 0) {
      this.notes.append(h("li", {}, button("Show the loop",
        () => this.pane.scrollTo(this.tops[inner]))));
    }
  }

  say(words) {
    this.words.textContent = words;
    this.showNotes();
    this.root.classList.add("is-empty");
    this.key = "";
    this.flow = null;
    this.gutter.replaceChildren();
    this.pane.showRows([]);
    this.look.onStatus();
  }

  display(key, lines, flow, words, hot = null) {
    if (this.key === key) {
      this.pane.draw();
      this.pane.mark();
      this.pane.revealSelection();
      return;
    }
    this.key = key;
    this.root.classList.remove("is-empty");
    this.flow = flow;
    const { rows, tops, ends } = blockRows(flow, lines, (line) => line.text.trim());
    this.tops = tops;
    this.words.textContent = `${this.figures(lines, flow)} ${words}`;
    this.drawJumps(flow, tops, ends, rows.length);
    this.pane.showRows(rows.map((row) => this.row(row, lines, flow, hot)),
      { language: assemblyOf(this.machine || this.store.model.host) });
    this.pane.revealSelection();
    this.look.onStatus();
  }

  figures(lines, flow) {
    const code = lines.filter((line) => !line.text.endsWith(":")).length;
    if (!flow) return `${counted(code, "instruction")}.`;
    const loops = new Set(flow.blocks.flatMap(([, , , around]) => around)).size;
    return `${counted(code, "instruction")} in ${counted(flow.blocks.length, "block")}, `
      + `${counted(loops, "loop")}.`;
  }

  row({ block, kind, line }, lines, flow, hot) {
    if (kind === "code") return lines[line];
    const words = [this.headWords(flow, block), this.hot.blockWords(hot, block)];
    const text = kind === "head" ? words.filter(Boolean).join("  ") : "";
    const node = () => (kind === "head" ? this.head(flow, block, hot) : this.foot(flow, block));
    return { text, entity: -1, number: 0, node };
  }

  headWords(flow, block) {
    const [label, , , around] = flow.blocks[block];
    const inner = around[around.length - 1];
    if (!around.length) return label;
    const depth = around.length > 1 ? `, ${around.length} deep` : "";
    return inner === block ? `${label}  ↻ head of a loop${depth}`
      : `${label}  in the loop of ${flow.blocks[inner][0]}${depth}`;
  }

  head(flow, block, hot) {
    const [, , , around] = flow.blocks[block];
    return h("span", { class: "block-head", "data-depth": Math.min(3, around.length) },
      this.headWords(flow, block), this.hot.block(hot, block));
  }

  foot(flow, block) {
    const jumps = flow.jumps.filter(([source]) => source === block);
    if (!jumps.length) return h("span", { class: "block-foot" }, "ends here");
    return h("span", { class: "block-foot" }, ...jumps.map((jump) => {
      const [sign, words] = wordsOf(jump);
      const label = flow.blocks[jump[1]][0];
      return button(`${sign} ${label}`, () => this.pane.scrollTo(this.tops[jump[1]]), {
        class: `entity-link ${jump[3] ? "back" : ""}`, "aria-label": `${words} ${label}`,
      });
    }));
  }

  drawJumps(flow, tops, ends, rows) {
    this.gutter.replaceChildren();
    const placed = flow ? tracks(flow, tops, ends) : [];
    const width = TRACK * (2 + placed.reduce((most, it) => Math.max(most, it.track), 0));
    const loops = flow ? loopsOf(flow, tops, ends) : [];
    const total = placed.length || loops.length ? width + 6 : 0;
    this.pane.root.style.setProperty("--gutter", `${total}px`);
    this.gutter.setAttribute("width", total);
    this.gutter.setAttribute("height", rows * ROW);
    this.gutter.append(
      ...loops.map((loop) => s("rect", {
        class: "loop-band", "data-depth": Math.min(3, loop.depth + 1),
        x: 2 + 3 * loop.depth, y: loop.top * ROW + 2,
        width: Math.max(1, total - 4 - 3 * loop.depth),
        height: (loop.end - loop.top + 1) * ROW - 4, rx: 3,
      })),
      ...placed.map((it) => this.arrow(it, width)));
  }

  arrow({ jump, from, to, track }, width) {
    const [y1, y2] = [from * ROW + ROW / 2, to * ROW + ROW / 2];
    const x = width - TRACK * (track + 1);
    const end = width + 3;
    const turn = y2 > y1 ? 4 : -4;
    const path = `M${end} ${y1}H${x + 4}Q${x} ${y1} ${x} ${y1 + turn}V${y2 - turn}`
      + `Q${x} ${y2} ${x + 4} ${y2}H${end - 5}`;
    const head = `M${end} ${y2}l-6 -3.5v7z`;
    return s("g", { class: jump[3] ? "jump back" : "jump" },
      s("path", { class: "jump-line", d: path }), s("path", { class: "jump-head", d: head }));
  }

  search(text) {
    return this.pane.search(text);
  }

  visit(index) {
    this.pane.scrollTo(index);
    if (this.pane.rows[index].entity >= 0) this.store.select(this.pane.rows[index].entity);
  }

  status() {
    const rows = this.pane.rows.filter((row) => row.number);
    if (!rows.length) return "";
    const linked = rows.filter((row) => row.entity >= 0 && this.store.model.isLinked(row.entity));
    return `${counted(rows.length, "line")}, ${count(linked.length)} linked to the LLVM IR · `
      + "↻ solid: back to the head of a loop · dashed: forward";
  }
}
