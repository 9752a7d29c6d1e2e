// Above the tools of a live explorer: which edition is shown, what changed, and what went wrong.

import { button, h, icon } from "../kit/dom.js";

export class EditionBar {
  /** @param store of an explorer @param {() => void} onMarks when marks come or go */
  constructor(store, onMarks) {
    Object.assign(this, { store, editions: store.editions, number: store.editions?.number });
    this.undo = this.turner(-1, "Edition before", "Ctrl+Z", "M6 3 2 7l4 4M2 7h7a4 4 0 0 1 0 8H7");
    this.redo = this.turner(1, "Next edition", "Ctrl+Shift+Z",
      "M10 3l4 4-4 4M14 7H7a4 4 0 0 0 0 8h2");
    this.title = h("strong", {});
    this.words = h("span", { class: "edition-words" });
    this.marks = button("Marks", () => {
      this.editions.hasMarks = !this.editions.hasMarks;
      onMarks();
      this.show();
    }, { class: "edition-marks", title: "Mark what changed from the edition before" });
    this.back = button("Put back", () => this.editions.restore(), { class: "edition-back",
      title: "Write the text of this edition into the notebook again, and run it there" });
    this.line = h("div", { class: "edition-line", role: "status" }, this.undo, this.redo,
      this.title, this.words, this.back, this.marks);
    this.problem = h("div", { class: "edition-problem", role: "alert", hidden: true });
    this.root = h("section", { class: "edition-bar", "aria-label": "Editions" }, this.line,
      this.problem);
    this.end = this.editions?.onChange(() => this.show());
    this.show();
  }

  turner(by, words, keys, path) {
    const made = button("", () => this.editions.turn(by), {
      class: "edition-turn", "aria-label": words, title: `${words} (${keys})` });
    made.append(icon(path));
    return made;
  }

  show() {
    const { editions } = this;
    if (editions?.number !== this.number) return; // another is on its way, with a bar of its own
    const problem = editions?.row.problem;
    this.root.hidden = !editions?.areSeveral && !problem;
    if (this.root.hidden) return;
    const { count, current } = editions.row;
    const { number } = editions;
    const words = [editions.row.words, number === current ? "" : `the notebook has ${current}`]
      .filter(Boolean).join("; ");
    const isLost = Boolean(this.store.requests.obstacle);
    this.line.hidden = !editions.areSeveral;
    this.undo.disabled = isLost || !editions.canTurn(-1);
    this.redo.disabled = isLost || !editions.canTurn(1);
    this.back.hidden = isLost || !editions.former.length;
    this.back.disabled = editions.isRunning;
    this.title.textContent = `edition ${number} of ${count}`;
    this.words.textContent = words;
    this.words.title = words;
    this.marks.hidden = !Object.keys(editions.changes).length;
    this.marks.setAttribute("aria-pressed", String(editions.hasMarks));
    this.problem.hidden = !problem;
    if (problem) this.tell(problem);
  }

  /** The error on the way to the next edition; the last good one stays below. */
  tell({ words, place, text }) {
    this.problem.replaceChildren(
      h("strong", {}, `✗ The next edition could not be made${place ? `: ${place}` : ""}`),
      text ? h("code", {}, text) : "",
      h("pre", {}, words));
  }

  close() {
    this.end?.();
  }
}
