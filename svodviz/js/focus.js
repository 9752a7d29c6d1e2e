// Parts of a page that are made anew keep the focus where it was.

const nameOf = (element) => element.getAttribute("aria-label") || element.textContent;

/** Runs `change`, which makes parts of `root` anew; what had the focus there has it afterwards. */
export function keepFocus(root, change) {
  const active = root.getRootNode().activeElement;
  const name = active && root !== active && root.contains(active) ? nameOf(active) : null;
  change();
  if (name === null || active.isConnected) return;
  const same = [...root.querySelectorAll(active.tagName)].find((it) => nameOf(it) === name);
  (same ?? root).focus?.({ preventScroll: true });
}
