// The revisions of a program that a live explorer follows: which one is shown, what changed in it,
// and what of the notebook may be edited. It outlives revisions. Pure but for the model.

import { Cells } from "./cells.js";
import { markChanges } from "./changes.js";
import { unpacked } from "./packed.js";

const NOTHING = { first: 1, count: 1, current: 1, words: "", names: [], cells: [], cell: -1,
  problem: null };
const UNMOVED = "The cell ran, and the program did not change";
const PASTE = "Copy the text, paste it into its cell and run that: this explorer follows.";
const ELSEWHERE = "The notebook's cell has another text by now. Copy this one, paste it there and "
  + "run the cell: this explorer follows.";

/**
 * @typedef {import("./wire.js").LiveRow} LiveRow
 * @typedef {import("./wire.js").CellRow} CellRow
 * @typedef {{text: string, next?: string, start: number, end: number, top: number}} Caret of the
 *   cell being edited; `next` is the text of its last run
 */

export class Revisions {
  /** @param {any} host what anywidget gives */
  constructor(host) {
    this.host = host;
    this.cells = new Cells(host.widget_manager);
    /** @type {import("./wire.js").Changes} */
    this.changes = {};
    this.hasMarks = true;
    /** @type {Map<string, string>} by the text of a cell, what it is being made */
    this.drafts = new Map();
    /** @type {Caret | null} the cell in the editor */
    this.caret = null;
    /** @type {import("./cells.js").Failure | null} of the last run */
    this.failure = null;
    this.words = "";
    this.isRunning = false;
    /** True if the typed text is to run when the present run is over. */
    this.isAwaited = false;
    /** Resolves when Python has sent everything; set by the explorer. */
    this.settle = async () => {};
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.tell = () => this.listeners.forEach((listener) => listener());
    host.on("change:live", this.tell);
  }

  /** @returns {LiveRow} */
  get row() {
    return { ...NOTHING, ...this.host.get("live") };
  }

  /** The number of the revision on screen. */
  get number() {
    return this.host.get("revision") ?? 1;
  }

  /** True if there is more than one revision. */
  get areSeveral() {
    return this.row.count > 1;
  }

  /** @param {number} by */
  canTurn(by) {
    const next = this.number + by;
    return next >= this.row.first && next <= this.row.count;
  }

  /**
   * Asks for the revision before or after.
   * @param {number} by
   */
  turn(by) {
    if (!this.canTurn(by)) return;
    this.host.set("revision", this.number + by);
    this.host.save_changes();
  }

  /** @param {() => void} listener @returns {() => void} ends it */
  onChange(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Reads what changed in the revision that has come. */
  async read() {
    this.changes = (await unpacked(this.host.get("changes"))) ?? {};
    this.row.cells.forEach(({ text }) => text && this.cells.note(text));
  }

  /** @param {import("./model.js").Model} model */
  mark(model) {
    markChanges(model, this.hasMarks ? this.changes : {});
  }

  // -- editing ------------------------------------------------------------------------------------

  /** The cell in the editor, if this revision still has it. */
  get edited() {
    const { cells } = this.row;
    const texts = [this.caret?.next, this.caret?.text];
    return texts.map((text) => cells.find((it) => it.text === text && !it.why)).find(Boolean);
  }

  /** @param {CellRow | null} cell null: leaves the editor; what was typed is kept */
  edit(cell) {
    this.caret = cell && { text: cell.text, start: 0, end: 0, top: 0 };
    Object.assign(this, { failure: null, words: "" });
    this.tell();
  }

  /** @param {CellRow} cell */
  draftOf(cell) {
    return this.drafts.get(cell.text) ?? cell.text;
  }

  /** @param {CellRow} cell @param {string} text */
  keep(cell, text) {
    if (text === cell.text) this.drafts.delete(cell.text);
    else this.drafts.set(cell.text, text);
  }

  /** The reason why a cell's text can only be copied; "" if it can be run from here. */
  obstacle(/** @type {CellRow} */ cell) {
    if (!this.cells.areReachable) return PASTE;
    return this.cells.find(cell.text) ? "" : ELSEWHERE;
  }

  /** Cells of a revision that is shown again whose texts the notebook has no more. */
  get former() {
    if (this.number === this.row.current) return [];
    return this.row.cells.filter(({ text, why }) =>
      !why && !this.cells.holder(text) && this.cells.find(text));
  }

  /** Writes the texts of the revision on screen back into the notebook, and runs them. */
  async restore() {
    for (const cell of this.former) {
      this.drafts.delete(cell.text);
      await this.run(cell);
    }
  }

  /**
   * Runs the edited text as the notebook's cell; the kernel then tells us what it made. While it
   * runs, another call has what is typed by then run afterwards.
   * @param {CellRow} cell
   */
  async run(cell) {
    this.isAwaited = this.isRunning;
    const found = this.cells.find(cell.text);
    if (this.isRunning || !found) return;
    const text = this.draftOf(cell);
    const before = this.number;
    // The revision that comes has the new text; where none comes, this one has the old.
    if (this.caret) Object.assign(this.caret, { text: cell.text, next: text });
    Object.assign(this, { isRunning: true, failure: null, words: "running …" });
    this.tell();
    try {
      this.failure = await this.cells.run(found, text);
      await this.settle().catch(() => {}); // the page of a revision that gave way asks no more
      const isStill = this.number === before && !this.row.problem;
      this.words = this.failure || !isStill ? "" : this.unmoved();
      if (this.number !== before && !this.failure) this.passOn(cell, text);
    } catch (error) {
      this.words = `It could not be run: ${/** @type {Error} */ (error).message}`;
    }
    this.isRunning = false;
    this.tell();
    const next = this.isAwaited && this.edited;
    if (next && this.drafts.has(next.text)) await this.run(next);
  }

  /**
   * The draft of a cell that ran; what was typed since is one of the cell with its new text.
   * @param {CellRow} cell @param {string} text
   */
  passOn(cell, text) {
    const typed = this.draftOf(cell);
    this.drafts.delete(cell.text);
    if (typed !== text) this.drafts.set(text, typed);
  }

  /** In words, why the run of a cell was no new revision. */
  unmoved() {
    const { names } = this.row;
    const bound = names.length ? `: ${names.join(", ")} is the same program` : "";
    return `${UNMOVED}${bound}. If it depends on other cells, run those too.`;
  }

  close() {
    this.host.off("change:live", this.tell);
    this.listeners.clear();
  }
}
