// A page of its own remembers how its reader divided the room: the browser keeps it for the next.
// In a notebook the widget's state does. Pure but for that storage.

import { keep, kept } from "../kit/kept.js";

const KEY = "svodviz room";
const NAMES = /** @type {const} */ (["panels", "sizes", "columns", "shares"]);

/**
 * Takes over what was remembered, and remembers from now on. Columns that a page was made with come
 * before those of the last page.
 * @param {import("../data/store.js").Store} store
 */
export function rememberRoom(store) {
  const found = kept(KEY);
  if (found && typeof found === "object") {
    const names = NAMES.filter((name) => name in found
      && (store.hasOwnColumns || !["columns", "shares"].includes(name)));
    store.set(Object.fromEntries(names.map((name) => [name, found[name]])));
  }
  store.subscribe((state, before) => {
    if (NAMES.some((name) => state[name] !== before[name])) {
      keep(KEY, Object.fromEntries(NAMES.map((name) => [name, state[name]])));
    }
  });
}
