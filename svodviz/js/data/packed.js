// Data that travels compressed (see packing.py). Pure.

/** Characters that a text may unpack to: a shared notebook may hold anything. As in packing.py. */
export const MOST_UNPACKED = 128e6;

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
  return JSON.parse(await read(stream));
}

/**
 * The text of a stream, which is left where it turns out to be too long.
 * @param {ReadableStream<Uint8Array>} stream
 */
async function read(stream) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  /** @type {string[]} */
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts.join("") + decoder.decode();
    size += value.length;
    if (size > MOST_UNPACKED) {
      reader.cancel().catch(() => {});
      throw new Error(`its data unpack to more than ${MOST_UNPACKED / 1e6} MB.`);
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
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
