// Texts into the clipboard, and files to keep: without Python, in any page.

import { h } from "./dom.js";

/**
 * Copies a text. Where a page may not use the clipboard (one that came over plain http from another
 * machine, one in a frame) it is copied as if it had been selected.
 * @param {string} text @param {HTMLElement} root what has the focus, or is around it
 * @returns {Promise<boolean>} whether it is there
 */
export async function copyText(text, root) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, root);
  }
}

/** @param {string} text @param {HTMLElement} root */
function copySelected(text, root) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = h("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
  field.value = text;
  root.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  active?.focus({ preventScroll: true });
  return isDone;
}

/**
 * Has the browser keep a file.
 * @param {string} name @param {Blob} content
 */
export function saveFile(name, content) {
  const url = URL.createObjectURL(content);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // the browser may ask where to put it
}

/**
 * A name that any file may have.
 * @param {string[]} words @param {string} ending
 */
export function fileName(words, ending) {
  const stem = words.join("-").replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${stem.slice(0, 80) || "picture"}.${ending}`;
}
