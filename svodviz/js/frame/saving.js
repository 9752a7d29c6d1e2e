// Has the notebook keep its explorers when it is saved. JupyterLab saves widgets only where the
// reader asked for it (Save Widget State Automatically), and shows an error in place of the others
// when the notebook is opened again. Pure but for the notebook that it is given.

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";
const OURS = /^svodviz\./;
const KEEPS = Symbol.for("svodviz keeps widgets");

/**
 * The notebook, which Lab and Notebook give beside what anywidget promises; all may be missing.
 * @typedef {{state: Record<string, {state?: Record<string, any>}>, [other: string]: any}} Saved
 * @typedef {Object} Notebook
 * @property {() => {cells: {outputs?: {data?: Record<string, any>}[]}[]}} toJSON
 * @property {(name: string, value: any) => void} [setMetadata]
 * @property {{set: (name: string, value: any) => void}} [metadata]
 *
 * @typedef {Object} Manager
 * @property {{model?: Notebook, saveState?: {connect: (slot: any) => void}}} [context]
 * @property {(options: Object) => Saved} [get_state_sync]
 * @property {boolean} [KEEPS]
 */

/**
 * From now on every save of the notebook keeps its widgets; asked again, nothing more is done.
 * @param {Record<symbol, boolean> & Manager | null | undefined} manager
 * @returns {boolean} whether this notebook can be told so
 */
export function keepWhenSaved(manager) {
  const { context } = manager ?? {};
  if (!manager?.get_state_sync || !context?.saveState || !context.model) return false;
  if (manager[KEEPS]) return true;
  manager[KEEPS] = true;
  context.saveState.connect((/** @type {any} */ _, /** @type {string} */ phase) => {
    if (phase === "started") keep(manager, /** @type {Notebook} */ (context.model));
  });
  return true;
}

/** @param {Manager} manager @param {Notebook} notebook */
function keep(manager, notebook) {
  const saved = manager.get_state_sync?.({ drop_defaults: true });
  if (!saved) return;
  const state = withoutEarlier(saved.state, shownIn(notebook));
  const value = { [STATE]: { ...saved, state } };
  if (notebook.setMetadata) notebook.setMetadata("widgets", value);
  else notebook.metadata?.set("widgets", value);
}

/**
 * The ids of the widgets that outputs show.
 * @param {Notebook} notebook
 */
function shownIn(notebook) {
  const outputs = notebook.toJSON().cells.flatMap((cell) => cell.outputs ?? []);
  return new Set(outputs.map(({ data }) => data?.[VIEW]?.model_id).filter(Boolean));
}

/**
 * Widgets without those of ours that no output shows any more, as their cell was run again: each
 * has all data of a program. Others' may be needed by some that are shown, so they stay.
 * @param {Saved["state"]} state @param {Set<string>} shown
 */
export function withoutEarlier(state, shown) {
  const isKept = (/** @type {[string, {state?: Record<string, any>}]} */ [id, { state: it }]) =>
    shown.has(id) || !OURS.test(it?._anywidget_id ?? "");
  return Object.fromEntries(Object.entries(state).filter(isKept));
}
