// The editor of a cell: a field over its coloured lines. What is typed there runs in the notebook.

import { button, h } from "../../kit/dom.js";
import { quotesOf, tokens } from "../../kit/tokens.js";
import { ROW } from "./textpane.js";

const INDENT = 4;

export class Editor {
  /** @param store of an explorer whose `revisions` say what may be edited */
  constructor(store) {
    Object.assign(this, { store, revisions: store.revisions, cell: null });
    this.numbers = h("div", { class: "editor-numbers", "aria-hidden": "true" });
    this.colours = h("pre", { class: "editor-colours", "aria-hidden": "true" });
    this.field = h("textarea", {
      class: "editor-field", spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      wrap: "off", oninput: () => this.typed(), onkeydown: (event) => this.key(event),
      onselect: () => this.remember(),
    });
    this.area = h("div", { class: "editor-area", onscroll: () => this.remember() },
      this.numbers, h("div", { class: "editor-text" }, this.colours, this.field));
    this.runButton = button("Run", () => this.run(), { class: "editor-run",
      title: "Run the cell with this text (Ctrl+Enter)" });
    this.copyButton = button("Copy", () => this.copy(), { title: "Copy the text" });
    this.words = h("span", { class: "editor-words", role: "status" });
    this.failure = h("pre", { class: "editor-failure", role: "alert", hidden: true });
    this.root = h("div", { class: "editor", role: "group" }, this.area, this.failure,
      h("div", { class: "editor-foot" }, this.runButton, this.copyButton,
        button("Reset", () => this.reset(), { title: "Discard changes: the text as it ran" }),
        button("Leave", () => this.leave(), { title: "Back to the lines; the text is kept (Esc)" }),
        this.words));
  }

  /** Shows a cell; where it is the same, what has become of its run. */
  show(cell) {
    const isNew = this.cell?.text !== cell.text;
    this.cell = cell;
    if (isNew) this.fill();
    this.tell();
  }

  fill() {
    const { caret } = this.revisions;
    this.field.value = this.revisions.draftOf(this.cell);
    this.field.setAttribute("aria-label", `Text of ${this.cell.name}`);
    this.draw();
    this.field.setSelectionRange(caret.start, caret.end);
    requestAnimationFrame(() => { this.area.scrollTop = caret.top; });
  }

  /** The coloured lines under the field, and their numbers. */
  draw() {
    const lines = this.field.value.split("\n");
    const quotes = quotesOf(lines, "python");
    const wrong = this.wrongLine(lines);
    this.colours.replaceChildren(...lines.flatMap((line, at) => [
      ...tokens(line, "python", quotes[at]).map(([text, kind]) =>
        (kind ? h("span", { class: `t-${kind}` }, text) : text)), "\n"]));
    this.numbers.replaceChildren(...lines.map((_, at) => h("div", {
      class: at + 1 === wrong ? "wrong" : null }, at + 1 === wrong ? `✗ ${at + 1}` : at + 1)));
    const widest = lines.reduce((most, line) => Math.max(most, line.length), 0);
    this.field.style.height = `${lines.length * ROW}px`;
    this.field.style.width = `${widest + 4}ch`;
  }

  /** The line of an error, counted from 1: of the run, or of what Python made of it; 0 for none. */
  wrongLine(lines) {
    const { failure, row } = this.revisions;
    const { place = "", text = "" } = row.problem ?? {};
    const number = failure?.line || Number(place.split(":").at(-1)) || 0;
    const isIt = failure || (text && lines[number - 1]?.trim() === text);
    return isIt ? number : 0;
  }

  /** The possible actions, and the outcome of the last run. */
  tell() {
    const { failure, words } = this.revisions;
    const { obstacle } = this;
    this.runButton.disabled = Boolean(obstacle);
    this.words.textContent = words || obstacle || "Ctrl+Enter runs it in the notebook, Esc leaves";
    this.failure.hidden = !failure;
    this.failure.textContent = failure ? `✗ ${failure.words}` : "";
    this.draw();
  }

  typed() {
    this.revisions.keep(this.cell, this.field.value);
    this.draw();
    this.remember();
  }

  /** The caret, for the editor of the next revision. */
  remember() {
    const { caret } = this.revisions;
    if (!caret) return;
    const { selectionStart: start, selectionEnd: end } = this.field;
    Object.assign(caret, { start, end, top: this.area.scrollTop });
  }

  key(event) {
    if (event.isComposing) return;
    const isRun = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    const acts = isRun ? () => this.run() : {
      Escape: () => this.leave(),
      Tab: event.shiftKey ? null : () => this.indent(),
      Enter: () => this.breakLine(),
    }[event.key];
    if (!acts) return;
    event.preventDefault();
    event.stopPropagation();
    acts();
  }

  /** Puts spaces up to the next stop. */
  indent() {
    const { value, selectionStart } = this.field;
    const column = selectionStart - (value.lastIndexOf("\n", selectionStart - 1) + 1);
    this.type(" ".repeat(INDENT - (column % INDENT)));
  }

  /** A new line begins where the one before does; behind a colon further in. */
  breakLine() {
    const { value, selectionStart } = this.field;
    const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
    const deeper = /:\s*(#.*)?$/.test(line) ? INDENT : 0;
    this.type(`\n${" ".repeat(line.match(/^ */)[0].length + deeper)}`);
  }

  /** Types a text, so that the browser can take it back. */
  type(text) {
    if (document.execCommand?.("insertText", false, text)) return;
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.typed();
  }

  /** The reason why the text cannot run; "" if it can, perhaps after the present run. */
  get obstacle() {
    return this.store.requests.obstacle || this.revisions.obstacle(this.cell);
  }

  run() {
    if (this.obstacle) return;
    this.remember();
    this.revisions.run(this.cell);
  }

  async copy() {
    this.field.select();
    try {
      await navigator.clipboard.writeText(this.field.value);
      this.words.textContent = "Copied.";
    } catch {
      this.words.textContent = "The text is selected: copy it with Ctrl+C.";
    }
  }

  reset() {
    this.field.focus();
    this.field.select();
    this.type(this.cell.text);
  }

  leave() {
    this.revisions.edit(null);
  }
}
