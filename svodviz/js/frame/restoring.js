// Draws widgets that the notebook's outputs have given up. When JupyterLab opens a notebook, each
// output looks for its widget every tenth of a second, for two seconds. A widget that is restored
// after the last look and before its time is over is there, yet the output says "model not found"
// and never looks again. Pure but for the notebook that it is given.

const VIEW = "application/vnd.jupyter.widget-view+json";
const INTERVAL = 100; // milliseconds between two looks of an output

/**
 * The notebook and its widgets, as JupyterLab and Notebook 7 have them; other hosts lack parts.
 * @typedef {{get: (index: number) => {data?: Record<string, any>} | undefined, length: number,
 *     stateChanged?: {emit?: (index: number) => void}}} Outputs
 * @typedef {{get: (index: number) => {outputs?: Outputs} | undefined, length: number}} Cells
 * @typedef {Object} Manager
 * @property {{model?: {cells?: Cells}} | null} [context]
 * @property {(widget: string) => boolean} [has_model]
 * @property {(widget: string) => Promise<{views?: Object}>} [get_model]
 */

/**
 * Draws again each output whose widget is there without a view, once every output has ended the
 * look that it began before the widget came.
 * @param {Manager | null | undefined} manager
 * @returns {Promise<void>}
 */
export async function drawMissed(manager) {
  const known = new Set(placesIn(manager).map(({ widget }) => widget));
  // Timers of one length end in the order in which they begin: those of the outputs come first.
  await new Promise((resolve) => { setTimeout(resolve, INTERVAL); });
  for (const id of known) {
    if (await lacksView(manager, id)) draw(placesIn(manager).filter((it) => it.widget === id));
  }
}

/**
 * The outputs that show widgets which the manager knows; none where the notebook is closed.
 * @param {Manager | null | undefined} manager
 * @returns {{outputs: Outputs, index: number, widget: string}[]}
 */
function placesIn(manager) {
  const cells = manager?.context?.model?.cells;
  if (!cells) return [];
  const all = Array.from({ length: cells.length }, (_, at) => cells.get(at)?.outputs);
  return all.flatMap((outputs) => Array.from({ length: outputs?.length ?? 0 }, (_, index) => (
    { outputs: /** @type {Outputs} */ (outputs), index, widget: idOf(outputs?.get(index)) }
  ))).filter(({ widget }) => widget && manager?.has_model?.(widget));
}

/** @param {{data?: Record<string, any>} | undefined} output */
function idOf(output) {
  return output?.data?.[VIEW]?.model_id;
}

/** @param {Manager | null | undefined} manager @param {string} id */
async function lacksView(manager, id) {
  if (!manager?.has_model?.(id)) return false; // it was closed meanwhile
  try {
    const model = await manager.get_model?.(id);
    return model?.views !== undefined && !Object.keys(model.views).length;
  } catch {
    return false; // a widget that could not be made: its output says so
  }
}

/** @param {{outputs: Outputs, index: number}[]} places */
function draw(places) {
  for (const { outputs, index } of places) outputs.stateChanged?.emit?.(index);
}
