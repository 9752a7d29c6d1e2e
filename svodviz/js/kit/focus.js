// The focus: it stays where it was when parts of a page are made anew, and keeps its keys.

/**
 * The focused element outside `root`, in a shadow tree too (marimo).
 * @param {Element} root
 */
export const activeIn = (root) => /** @type {Document} */ (root.getRootNode()).activeElement;

/** @param {Element} element */
const nameOf = (element) => element.getAttribute("aria-label") || element.textContent;

/**
 * Runs `change`, which makes parts of `root` anew; what had the focus there has it afterwards.
 * @param {HTMLElement} root @param {() => void} change
 */
export function keepFocus(root, change) {
  const active = activeIn(root);
  const name = active && root !== active && root.contains(active) ? nameOf(active) : null;
  change();
  if (name === null || !active || active.isConnected) return;
  const same = [...root.querySelectorAll(active.tagName)].find((it) => nameOf(it) === name);
  /** @type {HTMLElement} */ (same ?? root).focus?.({ preventScroll: true });
}

/**
 * Keeps plain keys from the shortcuts of the notebook around us. JupyterLab looks at keys after us,
 * Notebook before us; both leave alone what has this attribute. Ctrl+S and the like stay theirs.
 * @param {HTMLElement} root
 * @param {(event: KeyboardEvent) => boolean} isOurs whether a key with Ctrl is ours all the same
 */
export function keepKeys(root, isOurs = () => false) {
  const mark = (/** @type {any} */ event) => {
    const isTheirs = (event.ctrlKey || event.metaKey || event.altKey) && !isOurs(event);
    root.toggleAttribute("data-lm-suppress-shortcuts", !isTheirs);
  };
  for (const kind of ["focusin", "keydown", "keyup"]) root.addEventListener(kind, mark, true);
}

/**
 * Keeps Tab inside a dialog that lies over all else: behind its last element comes its first.
 * @param {KeyboardEvent} event
 */
export function cycleFocus(event) {
  if (event.key !== "Tab") return;
  const dialog = /** @type {HTMLElement} */ (event.currentTarget);
  const stops = [...dialog.querySelectorAll("button, input, [tabindex='0']")];
  const at = stops.findIndex((it) => it === activeIn(dialog));
  const next = (at + (event.shiftKey ? -1 : 1) + stops.length) % stops.length;
  event.preventDefault();
  /** @type {HTMLElement} */ (stops[next]).focus();
}
