// Settings that the browser keeps from one page to the next. Pages in frames without an origin
// have no storage: they forget, and work without. Pure but for that storage.

/**
 * @param {string} key
 * @returns {any} null where nothing was kept
 */
export function kept(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} key @param {any} value */
export function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // No storage here, or none left.
  }
}
