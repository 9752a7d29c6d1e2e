// A page of its own remembers how its reader divided the room: the browser keeps it for the next.
// In a notebook the widget's state does. Pure but for that storage.

const KEY = "svodviz room";
const NAMES = /** @type {const} */ (["panels", "sizes"]);

/**
 * Takes over what was remembered, and remembers from now on. Pages in frames without an origin have
 * no storage: they forget.
 * @param {import("../data/store.js").Store} store
 */
export function rememberRoom(store) {
  const kept = read();
  if (kept) store.set(Object.fromEntries(NAMES.map((name) => [name, kept[name]])));
  store.subscribe((state, before) => {
    if (NAMES.some((name) => state[name] !== before[name])) write(state);
  });
}

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return found && typeof found === "object" ? found : null;
  } catch {
    return null;
  }
}

/** @param {import("../data/wire.js").State} state */
function write(state) {
  try {
    const kept = Object.fromEntries(NAMES.map((name) => [name, state[name]]));
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // No storage here, or none left: the page works without.
  }
}
