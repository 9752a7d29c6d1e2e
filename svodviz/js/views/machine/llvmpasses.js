// LLVM's own passes on one kernel: those that changed something, what each changed, what LLVM says.

import { differing, LEVELS, sizeOf, textsOf } from "../../data/llvmtexts.js";
import { button, count, counted, duration, h } from "../../kit/dom.js";
import { CodePane, lineOfIr } from "./codepane.js";

const CONTEXT = 3;

export class LlvmPassesView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.position = 0;
    this.isWhole = false;
    this.answers = new Map();
    this.build();
    store.requests.onLive(() => this.root.isConnected && this.show());
  }

  get level() {
    return this.store.state.level;
  }

  build() {
    const { store } = this;
    this.choice = h("select", {
      "aria-label": "Which of LLVM's passes",
      onchange: () => store.set({ level: Number(this.choice.value), llvm_pass: 0 }),
    }, ...this.levels().map(([level, words]) => h("option", { value: level }, words)));
    this.whole = h("input", {
      type: "checkbox", onchange: () => { this.isWhole = this.whole.checked; this.showChange(); },
    });
    this.words = h("p", { class: "llvm-words", role: "status" });
    this.list = h("ol", {
      class: "llvm-list", "aria-label": "Passes of LLVM that changed the kernel",
    });
    this.title = h("h3", {});
    this.purpose = h("p", { class: "llvm-purpose" });
    this.pane = new CodePane(this.store, { label: "What the pass changed" });
    this.remarks = h("details", { class: "llvm-remarks", open: true });
    this.body = h("div", { class: "llvm-body", onkeydown: (event) => this.key(event) },
      this.list,
      h("section", { class: "llvm-change" },
        h("header", {}, this.title,
          h("label", { class: "only" }, this.whole, "whole text")),
        this.purpose, this.pane.root),
    );
    this.root = h("div", { class: "llvm-view" },
      h("div", { class: "llvm-head" }, this.choice, this.words), this.remarks, this.body);
  }

  /** The passes with a possible answer, in an exported page those recorded; always the first. */
  levels() {
    const { model, requests } = this.store;
    const units = model.stageById.get("llvm_passes")?.units ?? [];
    return LEVELS.filter(([level], place) => !place
      || units.some(({ name }) => requests.offers("llvm_passes", { kernel: name, level })));
  }

  get question() {
    const { stage, state } = this.store;
    return { kernel: stage.units[state.unit].name, level: this.level };
  }

  show() {
    const { question } = this;
    this.choice.value = String(this.level);
    const key = JSON.stringify(question);
    this.key_ = key;
    const run = this.answers.get(key);
    if (run) this.display(run);
    else if (run === undefined) this.ask(key, question);
  }

  ask(key, question) {
    this.answers.set(key, null);
    this.say("Asking LLVM …");
    const isStillWanted = () => this.key_ === key;
    this.store.requests.ask("llvm_passes", question, (words) => isStillWanted() && this.say(words))
      .then((run) => {
        if (run.problem) throw new Error(run.problem);
        this.answers.set(key, { ...run, texts: textsOf(run) });
        if (isStillWanted()) this.show();
      }).catch((error) => {
        this.answers.delete(key);
        if (isStillWanted()) this.say(this.reason(error));
      });
  }

  reason(error) {
    const own = this.level < 0 ? "" : " The passes for the code that runs may be recorded:"
      + " choose them above.";
    const { requests } = this.store;
    const isAnswered = requests.isLive || requests.recorded("llvm_passes", this.question);
    return isAnswered ? `LLVM gave no answer. ${error.message}`
      : `${error.message} LLVM runs only where Python is there: ${
        requests.howTo("machine_code")}.${own}`;
  }

  /** Words instead of passes. */
  say(words) {
    this.words.textContent = words;
    this.root.classList.add("is-empty");
    this.body.hidden = true;
    this.remarks.hidden = true;
    this.shown = null;
    this.look.onStatus();
  }

  display(run) {
    const last = Math.max(0, run.changes.length - 1);
    const position = Math.min(this.store.state.llvm_pass, last);
    const isMoved = position !== this.position;
    this.position = position;
    if (this.shown === run) {
      if (isMoved) this.showChange();
      else this.pane.mark();
      return;
    }
    this.shown = run;
    this.body.hidden = !run.changes.length;
    this.root.classList.remove("is-empty");
    this.words.textContent = this.summary(run);
    this.showRemarks(run);
    this.showList(run);
    this.showChange();
    this.look.onStatus();
  }

  summary(run) {
    const ir = run.changes.filter((it) => it.kind === "IR").length;
    const unseen = run.unseen
      ? `; ${run.unseen} more changed only what is not shown (attributes, metadata).` : ".";
    return `${this.store.model.shortOf(run.kernel)}: ${run.level}, because ${run.because}. `
      + `${ir} ${ir === 1 ? "pass" : "passes"} changed LLVM IR, ${run.changes.length - ir} changed `
      + `machine instructions${unseen} LLVM took ${duration(run.seconds)}, including startup.`;
  }

  showRemarks(run) {
    this.remarks.hidden = !run.remarks.length;
    this.remarks.open = this.root.clientWidth > 860;
    const done = run.remarks.filter(([, , , , taken]) => taken !== null).length;
    this.remarks.replaceChildren(
      h("summary", {}, `LLVM remarks: ${counted(done, "decision")}, `
        + counted(run.remarks.length - done, "note")),
      h("ul", {}, ...run.remarks.map((it) => this.remark(run, it))),
    );
  }

  remark(run, [words, original, line, loop, taken]) {
    const entity = lineOfIr(this.store.model, run.number, line);
    const place = loop ? `loop ${loop}` : line ? `line ${line}` : "kernel";
    const sign = taken === null ? "·" : taken ? "✓" : "✗";
    const outcome = taken === null ? "note" : taken ? "done" : "not done";
    return h("li", { class: `remark is-${outcome.replace(" ", "-")}`, title: `LLVM: ${original}` },
      h("span", { class: "verdict", role: "img", "aria-label": outcome }, sign),
      entity < 0 ? h("span", { class: "remark-place" }, place)
        : button(place, () => this.store.select(entity), {
          class: "entity-link", "aria-label": `${place}, line ${line} of the LLVM IR`,
        }),
      h("span", {}, words));
  }

  showList(run) {
    let kind = "";
    const rows = [];
    run.changes.forEach((change, position) => {
      if (change.kind !== kind) {
        rows.push(h("li", { class: "pass-group" },
          change.kind === "IR" ? "LLVM IR" : "instructions of the processor"));
      }
      kind = change.kind;
      rows.push(h("li", {}, this.entry(change, position)));
    });
    this.list.replaceChildren(...rows);
  }

  entry(change, position) {
    const { added, removed } = sizeOf(change);
    const entry = button("", () => this.choose(position), {
      class: "pass changed llvm-pass", "data-position": position,
      "aria-label": `${position + 1}, ${change.title}: ${counted(removed, "line")} out, `
        + `${added} in`,
      title: change.purpose,
    });
    entry.append(h("span", { class: "llvm-entry", "aria-hidden": "true" },
      h("span", { class: "llvm-number" }, String(position + 1)),
      h("span", { class: "pass-name" }, change.title),
      h("span", { class: "llvm-counts" },
        removed ? h("span", { class: "gone" }, `−${count(removed)}`) : null,
        added ? h("span", { class: "came" }, `+${count(added)}`) : null)));
    return entry;
  }

  choose(position) {
    this.store.set({ llvm_pass: position });
  }

  showChange() {
    const run = this.shown;
    const change = run?.changes[this.position];
    if (!change) return;
    for (const node of this.list.querySelectorAll(".llvm-pass")) {
      const isChosen = Number(node.dataset.position) === this.position;
      node.setAttribute("aria-current", String(isChosen));
      if (isChosen) node.scrollIntoView({ block: "nearest" });
    }
    this.title.textContent = `${this.position + 1} of ${run.changes.length}  ${change.title}`;
    this.purpose.textContent = `${change.purpose} · ${change.name} on ${
      change.on || this.store.model.shortOf(run.kernel)}`;
    const { before } = run.texts[this.position];
    const rows = differing(before, change.edits, this.isWhole ? Infinity : CONTEXT)
      .map((row) => this.row(row, run));
    const first = rows.findIndex((it) => it.sign);
    this.pane.showRows(rows, {
      language: change.kind === "IR" ? "llvm" : "instructions",
      top: this.isWhole ? Math.max(0, first - CONTEXT) : 0,
    });
  }

  row({ sign, text, lines, number, left }, run) {
    if (left) {
      const words = `… ${counted(left, "line")} unchanged`;
      return { text: words, entity: -1, node: () => h("span", { class: "left-out" }, words) };
    }
    return { sign, text, number, entity: lineOfIr(this.store.model, run.number, lines[0]) };
  }

  /** Arrows step through LLVM's passes while one of them has the focus. */
  key(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by || event.target.closest(".text-pane") || !this.shown) return;
    event.preventDefault();
    event.stopPropagation();
    const last = this.shown.changes.length - 1;
    this.choose(Math.max(0, Math.min(last, this.position + by)));
    this.list.querySelector(`[data-position="${this.position}"]`)?.focus();
  }

  search(text) {
    return this.shown ? this.pane.search(text) : [];
  }

  visit(index) {
    this.pane.scrollTo(index);
    if (this.pane.rows[index].entity >= 0) this.store.select(this.pane.rows[index].entity);
  }

  status() {
    if (!this.shown) return "LLVM's passes are computed on demand, one kernel at a time.";
    return "↑ ↓ from pass to pass · a line leads to the generated LLVM IR that it comes from";
  }
}
