// Above the tools of a live explorer: which revision is shown, what changed, and what went wrong.

import { button, h, icon } from "../kit/dom.js";

export class RevisionBar {
  /** @param store of an explorer @param {() => void} onMarks when marks come or go */
  constructor(store, onMarks) {
    Object.assign(this, { store, revisions: store.revisions, number: store.revisions?.number });
    this.undo = this.turner(-1, "Previous revision", "Ctrl+Z",
      "M6 3 2 7l4 4M2 7h7a4 4 0 0 1 0 8H7");
    this.redo = this.turner(1, "Next revision", "Ctrl+Shift+Z",
      "M10 3l4 4-4 4M14 7H7a4 4 0 0 0 0 8h2");
    this.title = h("strong", {});
    this.words = h("span", { class: "revision-words" });
    this.marks = button("Marks", () => {
      this.revisions.hasMarks = !this.revisions.hasMarks;
      onMarks();
      this.show();
    }, { class: "revision-marks", title: "Mark changes since the previous revision" });
    this.back = button("Restore", () => this.revisions.restore(), { class: "revision-back",
      title: "Write this revision's text back into the notebook and run it there" });
    this.line = h("div", { class: "revision-line", role: "status" }, this.undo, this.redo,
      this.title, this.words, this.back, this.marks);
    this.problem = h("div", { class: "revision-problem", role: "alert", hidden: true });
    this.root = h("section", { class: "revision-bar", "aria-label": "Revisions" }, this.line,
      this.problem);
    this.end = this.revisions?.onChange(() => this.show());
    this.show();
  }

  turner(by, words, keys, path) {
    const made = button("", () => this.revisions.turn(by), {
      class: "revision-turn", "aria-label": words, title: `${words} (${keys})` });
    made.append(icon(path));
    return made;
  }

  show() {
    const { revisions } = this;
    if (revisions?.number !== this.number) return; // another is on its way, with a bar of its own
    const problem = revisions?.row.problem;
    this.root.hidden = !revisions?.areSeveral && !problem;
    if (this.root.hidden) return;
    const { count, current } = revisions.row;
    const { number } = revisions;
    const words = [revisions.row.words, number === current ? "" : `the notebook is at ${current}`]
      .filter(Boolean).join("; ");
    const isLost = Boolean(this.store.requests.obstacle);
    this.line.hidden = !revisions.areSeveral;
    this.undo.disabled = isLost || !revisions.canTurn(-1);
    this.redo.disabled = isLost || !revisions.canTurn(1);
    this.back.hidden = isLost || !revisions.former.length;
    this.back.disabled = revisions.isRunning;
    this.title.textContent = `revision ${number} of ${count}`;
    this.words.textContent = words;
    this.words.title = words;
    this.marks.hidden = !Object.keys(revisions.changes).length;
    this.marks.setAttribute("aria-pressed", String(revisions.hasMarks));
    this.problem.hidden = !problem;
    if (problem) this.tell(problem);
  }

  /** The error on the way to the next revision; the last good one stays below. */
  tell({ words, place, text }) {
    this.problem.replaceChildren(
      h("strong", {}, `✗ The next revision could not be compiled${place ? `: ${place}` : ""}`),
      text ? h("code", {}, text) : "",
      h("pre", {}, words));
  }

  close() {
    this.end?.();
  }
}
