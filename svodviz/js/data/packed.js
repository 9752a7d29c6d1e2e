// Data that travels compressed (see packing.py). Pure.

/**
 * The data of a compressed text; anything else is its own data.
 * @param {any} given
 * @returns {Promise<any>}
 */
export async function unpacked(given) {
  if (typeof given !== "string") return given;
  const binary = atob(given);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/**
 * A model that gives `wire` as data, and everything else as `model` does.
 * @param {any} model @param {any} wire
 */
export function withWire(model, wire) {
  return {
    widget_manager: model.widget_manager,
    get: (/** @type {string} */ name) => (name === "wire" ? wire : model.get(name)),
    set: (/** @type {string} */ name, /** @type {any} */ value) => model.set(name, value),
    save_changes: () => model.save_changes(),
    on: (/** @type {string} */ event, /** @type {any} */ listener) => model.on(event, listener),
    off: (/** @type {string} */ event, /** @type {any} */ listener) => model.off(event, listener),
    send: model.send && ((/** @type {any[]} */ ...message) => model.send(...message)),
  };
}
