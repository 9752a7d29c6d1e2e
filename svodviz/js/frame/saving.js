// Has the notebook keep its widgets when it is saved. JupyterLab saves widgets only where the
// reader asked for it (Save Widget State Automatically), and then only those that a kernel still
// knows: what was restored from the file, or made by a kernel that restarted, would be lost with
// the first edit. Here all that an output shows stays in the file. Pure but for the notebook that
// it is given.

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";
const OURS = /^svodviz\./;
const REFERENCE = /^IPY_MODEL_(.+)$/;
// Modules are saved with a notebook: those of before this one kept less, under another name.
const KEEPS = Symbol.for("svodviz keeps all widgets that are shown");

/**
 * The notebook, which Lab and Notebook give besides the interface of anywidget; it may be missing.
 * @typedef {{state?: Record<string, any>, [other: string]: any}} Row
 * @typedef {{state: Record<string, Row>, [other: string]: any}} Saved
 * @typedef {{key?: string, oldValue?: any, newValue?: any}} Change
 * @typedef {Object} Notebook
 * @property {() => {cells: {outputs?: {data?: Record<string, any>}[]}[]}} toJSON
 * @property {(name: string) => any} [getMetadata]
 * @property {(name: string, value: any) => void} [setMetadata]
 * @property {{get?: (name: string) => any, set: (name: string, value: any) => void}} [metadata]
 * @property {{connect: (slot: (sender: any, change: Change) => void) => void}} [metadataChanged]
 *
 * @typedef {Object} Manager
 * @property {{model?: Notebook, saveState?: {connect: (slot: any) => void}}} [context]
 * @property {(options: Object) => Saved} [get_state_sync]
 * @property {Map<string, any>} [_modelsSync]
 */

/**
 * From now on every save of the notebook keeps its widgets. Asked again, as each explorer does, it
 * only writes back what a save lost that came while the notebook was opened.
 * @param {Record<symbol, () => void> & Manager | null | undefined} manager
 * @returns {boolean} true if this notebook can be set to do so
 */
export function keepWhenSaved(manager) {
  const { context } = manager ?? {};
  if (!manager?.get_state_sync || !context?.saveState || !context.model) return false;
  if (!manager[KEEPS]) {
    const notebook = /** @type {Notebook} */ (context.model);
    const earlier = new Earlier(notebook);
    manager[KEEPS] = () => mend(manager, notebook, earlier);
    context.saveState.connect((/** @type {any} */ _, /** @type {string} */ phase) => {
      if (phase === "started") keep(manager, notebook, earlier);
    });
  }
  manager[KEEPS]();
  return true;
}

/** @param {Notebook} notebook @returns {any} */
function metadataOf(notebook) {
  return notebook.getMetadata?.("widgets") ?? notebook.metadata?.get?.("widgets");
}

/** The rows of widgets that the notebook had in its metadata, since it was opened. */
class Earlier {
  /** @param {Notebook} notebook */
  constructor(notebook) {
    /** @type {Saved["state"]} */
    this.rows = {};
    this.take(metadataOf(notebook));
    notebook.metadataChanged?.connect((_, { key, oldValue, newValue }) => {
      if (key !== "widgets") return;
      this.take(oldValue);
      this.take(newValue);
    });
  }

  /** @param {any} widgets */
  take(widgets) {
    Object.assign(this.rows, widgets?.[STATE]?.state);
  }
}

/**
 * Between the moment in which the widgets of a file are there again and the first of ours that runs
 * a save may have emptied the metadata: then they are written back, and the notebook is not saved.
 * @param {Manager} manager @param {Notebook} notebook @param {Earlier} earlier
 */
function mend(manager, notebook, earlier) {
  const saved = metadataOf(notebook)?.[STATE]?.state ?? {};
  const held = [...(manager._modelsSync ?? [])];
  const lost = held.filter(([id, model]) => !model.comm_live && !(id in saved));
  if (!lost.length) return;
  const shown = shownIn(notebook);
  if (lost.some(([id]) => shown.has(id))) keep(manager, notebook, earlier);
}

/** @param {Manager} manager @param {Notebook} notebook @param {Earlier} earlier */
function keep(manager, notebook, earlier) {
  const live = manager.get_state_sync?.({ drop_defaults: true });
  if (!live) return;
  const rows = { ...earlier.rows, ...heldBy(manager), ...live.state };
  const state = keptOf(rows, live.state, shownIn(notebook));
  const value = { [STATE]: { ...live, state } };
  if (notebook.setMetadata) notebook.setMetadata("widgets", value);
  else notebook.metadata?.set("widgets", value);
}

/**
 * The rows of all widgets in the page, those too that no kernel knows any more. The manager leaves
 * them out: it is asked once more, as if all of them were known.
 * @param {Manager} manager
 * @returns {Saved["state"]}
 */
function heldBy(manager) {
  if (!(manager._modelsSync instanceof Map)) return {};
  const models = new Map([...manager._modelsSync].map(([id, model]) => [id, asLive(model)]));
  const stand = new Proxy(manager, {
    get: (it, name) => (name === "_modelsSync" ? models : Reflect.get(it, name, it)),
  });
  try {
    return manager.get_state_sync?.call(stand, { drop_defaults: true }).state ?? {};
  } catch (error) {
    console.warn("svodviz: widgets without a kernel stay as they were saved before", error);
    return {};
  }
}

/** @param {any} model */
function asLive(model) {
  return new Proxy(model, {
    get(it, name) {
      if (name === "comm_live") return true;
      const value = Reflect.get(it, name, it);
      const isMethod = typeof value === "function" && name !== "constructor";
      return isMethod ? value.bind(it) : value;
    },
  });
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
 * The rows that belong to a notebook: what its outputs show with all that this refers to, and of
 * the others those that a kernel knows. Ours that no output shows any more are left out, as their
 * cell was run again: each has all data of a program.
 * @param {Saved["state"]} rows @param {Saved["state"]} live @param {Set<string>} shown
 * @returns {Saved["state"]}
 */
export function keptOf(rows, live, shown) {
  const needed = reached(rows, shown);
  const isKept = (/** @type {[string, Row]} */ [id, { state }]) =>
    needed.has(id) || (id in live && !OURS.test(state?._anywidget_id ?? ""));
  return Object.fromEntries(Object.entries(rows).filter(isKept));
}

/** @param {Saved["state"]} rows @param {Iterable<string>} ids */
function reached(rows, ids) {
  const found = new Set(ids);
  for (const id of found) { // it grows meanwhile
    for (const other of references(rows[id]?.state)) found.add(other);
  }
  return found;
}

/**
 * The ids of the widgets that a value refers to.
 * @param {any} value
 * @returns {string[]}
 */
function references(value) {
  if (typeof value === "string") return value.match(REFERENCE)?.slice(1) ?? [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(references);
}
