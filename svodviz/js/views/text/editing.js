// The editable parts of the source, and the editor in their place.

import { button, h } from "../../kit/dom.js";
import { Editor } from "./editor.js";

export class Editing {
  /** @param store @param pane the column of lines that gives way to the editor */
  constructor(store, pane) {
    Object.assign(this, { store, pane, revisions: store.revisions });
    this.choice = h("select", { class: "editing-choice", "aria-label": "Which cell",
      onchange: () => { this.isChosen = true; } });
    this.button = button("Edit", () => this.begin(), { class: "editing-button" });
    this.note = h("span", { class: "editing-note" });
    this.head = h("div", { class: "editing", hidden: true });
    this.root = h("div", { class: "editing-place", hidden: true });
    this.editor = null;
    this.end = this.revisions?.onChange(() => this.show()) ?? (() => {});
  }

  /** The cells that may be edited. */
  get cells() {
    return this.revisions.row.cells.filter((cell) => !cell.why);
  }

  /** @param {boolean} isSource whether the pane shows the program, and may give way */
  show(isSource = this.isSource) {
    this.isSource = isSource;
    const { revisions } = this;
    const isOffered = Boolean(isSource && revisions && revisions.row.cells.length
      && !this.store.requests.obstacle);
    const edited = isOffered ? revisions.edited : undefined;
    this.head.hidden = !isOffered;
    if (isOffered) this.offer(edited);
    const wasOpen = !this.root.hidden;
    this.root.hidden = !edited;
    this.pane.root.hidden = Boolean(edited);
    if (edited) this.open(edited, wasOpen);
    else if (wasOpen) this.button.focus();
  }

  offer(edited) {
    const { cells } = this;
    if (!this.head.firstChild) this.head.append(this.choice, this.button, this.note);
    const chosen = this.choice.value;
    this.choice.replaceChildren(...cells.map(({ name, text }) => h("option", { value: name },
      this.revisions.drafts.has(text) ? `${name} *` : name)));
    const { cells: all, cell } = this.revisions.row;
    const own = all[cell]?.why ? cells.at(-1) : all[cell];
    const isThere = this.isChosen && cells.some(({ name }) => name === chosen);
    this.choice.value = edited?.name ?? (isThere ? chosen : own?.name ?? "");
    this.choice.hidden = cells.length < 2 || Boolean(edited);
    this.button.hidden = !cells.length || Boolean(edited);
    const drafts = cells.filter(({ text }) => this.revisions.drafts.has(text));
    const others = this.revisions.row.cells.filter((cell) => cell.why);
    this.note.textContent = edited ? `editing ${edited.name}`
      : drafts.length ? "* has changes that did not run"
        : cells.length ? "" : `${others[0].name} cannot be edited here: ${others[0].why}`;
    this.button.title = [this.note.textContent,
      "Edit the cell here: it runs in the notebook, all stages follow"].filter(Boolean).join("\n");
  }

  begin() {
    this.revisions.edit(this.cells.find(({ name }) => name === this.choice.value) ?? null);
  }

  open(cell, wasOpen) {
    if (!this.editor) {
      this.editor = new Editor(this.store);
      this.root.append(this.editor.root);
    }
    this.editor.show(cell);
    if (!wasOpen) this.editor.field.focus({ preventScroll: true });
  }

  close() {
    this.end();
  }
}
