// The cells of the notebook around a widget: found, written and run by the notebook's own means, as
// JupyterLab and Notebook give them to widgets besides the interface of anywidget. Other hosts give
// none. Nothing here is sent to the Python of the explorer: the kernel runs the cell. Pure but for
// the notebook that it is given.

const VIEW = "application/vnd.jupyter.widget-view+json";
const OUTPUTS = ["stream", "display_data", "execute_result", "error"];
const ANSI = /\u001b\[[\d;]*m/g;
const LINE = /line (\d+)/g;

/**
 * All of it may be missing.
 * @typedef {{getSource: () => string, setSource: (text: string) => void,
 *   executionState?: string}} Shared
 * @typedef {{toJSON: () => {data?: Record<string, any>}[], clear: (wait?: boolean) => void,
 *   add: (output: object) => void}} Outputs
 * @typedef {{"id": string, type: string, sharedModel: Shared, outputs?: Outputs,
 *   executionCount?: number | null}} Cell
 * @typedef {{done: Promise<any>, onIOPub: (message: any) => void}} Future
 * @typedef {Object} Kernel
 * @property {(content: object, dispose?: boolean, metadata?: object) => Future} [requestExecute]
 * @typedef {Object} Manager
 * @property {{model?: {cells?: {length: number, get: (at: number) => Cell}}}} [context]
 * @property {Kernel | null} [kernel]
 *
 * @typedef {{words: string, line: number}} Failure line: counted from 1, 0 where it is not known
 */

/** @param {string} text */
const trimmed = (text) => text.replace(/\s+$/, "");

export class Cells {
  /** @param {Manager | null | undefined} manager */
  constructor(manager) {
    this.manager = manager ?? {};
    /** @type {Map<string, string>} the id of the cell that had a text when that had run */
    this.ids = new Map();
  }

  /** True if cells can be run from here. */
  get areReachable() {
    return Boolean(this.manager.kernel?.requestExecute && this.manager.context?.model?.cells?.get);
  }

  /** @returns {Cell[]} */
  all() {
    const cells = this.manager.context?.model?.cells;
    return Array.from({ length: cells?.length ?? 0 }, (_, at) => /** @type {any} */ (cells).get(at))
      .filter((cell) => cell.type === "code" && cell.sharedModel?.setSource);
  }

  /**
   * The cell that has a text, or had it and has one now that is known too: nothing that was typed
   * into the notebook since then would be lost.
   * @param {string} text
   */
  find(text) {
    const former = this.all().find((cell) => cell.id === this.ids.get(trimmed(text)));
    const isKnown = former
      && this.ids.get(trimmed(former.sharedModel.getSource())) === former.id;
    return this.holder(text) ?? (isKnown ? former : undefined);
  }

  /**
   * Notes which cell has a text, so that it is found by that later on.
   * @param {string} text
   */
  note(text) {
    const found = this.holder(text);
    if (found) this.ids.set(trimmed(text), found.id);
  }

  /**
   * The cell that has a text at present.
   * @param {string} text
   */
  holder(text) {
    return this.all().find((cell) => trimmed(cell.sharedModel.getSource()) === trimmed(text));
  }

  /**
   * Writes a text into a cell and runs that, as the notebook does.
   * @param {Cell} cell @param {string} text
   * @returns {Promise<Failure | null>} what went wrong
   */
  async run(cell, text) {
    this.ids.set(trimmed(cell.sharedModel.getSource()), cell.id);
    this.ids.set(trimmed(text), cell.id);
    cell.sharedModel.setSource(text);
    const { kernel } = this.manager;
    if (!kernel?.requestExecute) throw new Error("The kernel is not there any more.");
    const content = { code: text, silent: false, store_history: true, allow_stdin: false,
      stop_on_error: true };
    // With the cell's id the run is one of this cell, for Python as well.
    const future = kernel.requestExecute(content, true, { cellId: cell.id });
    tell(cell, "running");
    const outputs = cell.outputs && !showsWidgets(cell.outputs) ? cell.outputs : null;
    outputs?.clear();
    future.onIOPub = (message) => take(message, cell, outputs);
    try {
      const { content: end } = await future.done;
      return end.status === "error" ? failureOf(end) : null;
    } finally {
      tell(cell, "idle");
    }
  }
}

/**
 * Tells the notebook that one of its cells runs, or no more.
 * @param {Cell} cell @param {string} state
 */
function tell({ sharedModel }, state) {
  if ("executionState" in sharedModel) sharedModel.executionState = state;
}

/**
 * The output of a run goes where the notebook would put it.
 * @param {any} message @param {Cell} cell @param {Outputs | null} outputs
 */
function take({ header, content }, cell, outputs) {
  const kind = header.msg_type;
  if (kind === "execute_input") cell.executionCount = content.execution_count;
  const { transient: _, ...output } = content;
  if (OUTPUTS.includes(kind)) outputs?.add({ output_type: kind, ...output });
}

/**
 * True if outputs show widgets: the explorer that asks may be among them, and stays.
 * @param {Outputs} outputs
 */
function showsWidgets(outputs) {
  return outputs.toJSON().some(({ data }) => data?.[VIEW]);
}

/**
 * An error of a run, and the line of the cell where it came up.
 * @param {{ename?: string, evalue?: string, traceback?: string[]}} given
 * @returns {Failure}
 */
export function failureOf({ ename = "Error", evalue = "", traceback = [] }) {
  const frames = traceback.join("\n").replace(ANSI, "").split("\n")
    .filter((row) => /^\s*(Cell In|File .*ipython-input|File .*ipykernel_)/.test(row));
  const all = [...frames, evalue].flatMap((row) => [...row.matchAll(LINE)]);
  const [first] = frames.flatMap((row) => [...row.matchAll(LINE)]);
  // Without the name that the kernel gives to a file of the cell.
  const words = evalue.replace(/ *\([^()]*, (line \d+)\)$/, ", $1");
  return { words: `${ename}: ${words}`, line: Number((first ?? all[0])?.[1] ?? 0) };
}
