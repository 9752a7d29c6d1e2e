// The words of a line in the inspector, a hint under the pointer, and the glossary.

import { button, h } from "../kit/dom.js";
import { cycleFocus } from "../kit/focus.js";
import { explain, glossary, wordsOf } from "./lookup.js";

/** Milliseconds that the pointer rests on a word before its hint appears: a choice. */
const REST = 350;
const MOST = 8;

/**
 * @typedef {import("./entries.js").Entry} Entry
 * @typedef {(word: string) => string} Meaning what a program's own operations mean
 */

/**
 * The words of a line, explained; null where none is known.
 * @param {string} line @param {string} language @param {Meaning} meaning
 */
export function wordList(line, language, meaning) {
  const found = [...wordsOf(line, language), ...operationsOf(line, language, meaning)];
  return found.length ? list(found.slice(0, MOST)) : null;
}

/**
 * Operations of the compiler's own texts, which the program itself explains.
 * @param {string} line @param {string} language @param {Meaning} meaning
 * @returns {Entry[]}
 */
function operationsOf(line, language, meaning) {
  if (!["graph", "loops", "lowered"].includes(language)) return [];
  const words = [...new Set(line.match(/[a-z_]\w*/g) ?? [])];
  const own = words.filter((word) => meaning(word) && !explain(word, language));
  return own.map((word) => ({ word, sentence: meaning(word), example: "" }));
}

/** @param {Entry[]} entries */
function list(entries) {
  return h("dl", { class: "words" }, ...entries.flatMap(({ word, sentence, example }) => [
    h("dt", {}, h("code", {}, word)),
    h("dd", {}, sentence, example ? h("code", { class: "example" }, example) : null),
  ]));
}

/**
 * Shows what the word under the pointer means, in texts that say their language
 * (`data-language`). Gives back what ends it.
 * @param {HTMLElement} root @param {Meaning} meaning
 */
export function hints(root, meaning) {
  const hint = h("div", { class: "word-hint", role: "tooltip", hidden: true });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const hide = () => {
    clearTimeout(waiting);
    hint.hidden = true;
  };
  const move = (/** @type {PointerEvent} */ event) => {
    hide();
    const [target] = event.composedPath(); // later the event has none
    const pane = /** @type {Element} */ (target).closest?.("[data-language]");
    if (pane) waiting = setTimeout(() => show(root, pane, hint, event, meaning), REST);
  };
  root.append(hint);
  root.addEventListener("pointermove", move);
  root.addEventListener("pointerleave", hide);
  root.addEventListener("pointerdown", hide);
  root.addEventListener("wheel", hide, { passive: true });
  return hide;
}

/**
 * @param {HTMLElement} root @param {Element} pane @param {HTMLElement} hint
 * @param {PointerEvent} event @param {Meaning} meaning
 */
function show(root, pane, hint, event, meaning) {
  const word = wordAt(event);
  if (!word) return;
  const language = pane.getAttribute("data-language") ?? "";
  const entry = explain(word, language)
    ?? operationsOf(word, language, meaning).find((it) => it.word === word);
  if (!entry) return;
  hint.replaceChildren(h("code", {}, entry.word), h("span", {}, entry.sentence),
    entry.example ? h("code", { class: "example" }, entry.example) : "");
  hint.hidden = false;
  const frame = root.getBoundingClientRect();
  const left = Math.min(event.clientX - frame.left, frame.width - hint.offsetWidth - 8);
  const below = event.clientY - frame.top + 18;
  const isRoom = below + hint.offsetHeight < frame.height;
  hint.style.left = `${Math.max(4, left)}px`;
  hint.style.top = `${isRoom ? below : below - hint.offsetHeight - 30}px`;
}

/**
 * The word under the pointer; "" where there is none.
 * @param {PointerEvent} event
 */
function wordAt(event) {
  const range = document.caretRangeFromPoint?.(event.clientX, event.clientY);
  const position = range ? { node: range.startContainer, offset: range.startOffset }
    : positionOf(event);
  const text = position?.node.nodeType === Node.TEXT_NODE ? position.node.textContent ?? "" : "";
  const offset = position?.offset ?? 0;
  const before = /[\w.]*$/.exec(text.slice(0, offset))?.[0] ?? "";
  const after = /^[\w.]*/.exec(text.slice(offset))?.[0] ?? "";
  return `${before}${after}`.replace(/^[.\d]+|\.+$/g, "");
}

/** @param {PointerEvent} event */
function positionOf({ clientX, clientY }) {
  const found = document.caretPositionFromPoint?.(clientX, clientY);
  return found && { node: found.offsetNode, offset: found.offset };
}

/**
 * The page of all words; hidden until asked for. What is typed above leaves those that have it.
 * @param {() => void} close
 */
export function glossaryPage(close) {
  const parts = glossary().map(([title, entries]) =>
    h("section", {}, h("h4", {}, title), list(entries)));
  const field = h("input", {
    type: "search", "aria-label": "Find a word", placeholder: "find a word",
    oninput: () => filter(parts, field.value),
  });
  return h("div", { class: "glossary-page", role: "dialog", "aria-label": "Glossary",
    "aria-modal": "true", hidden: true, onkeydown: cycleFocus },
    h("div", { class: "key-card" },
      h("div", { class: "key-head" }, h("h3", {}, "Glossary"), field, button("close", close)),
      h("div", { class: "glossary", tabindex: "0", role: "group", "aria-label": "Words" },
        ...parts)));
}

/**
 * @param {HTMLElement[]} parts @param {string} typed
 */
function filter(parts, typed) {
  const wanted = typed.trim().toLowerCase();
  for (const part of parts) {
    let isAny = false;
    for (const term of part.querySelectorAll("dt")) {
      const sense = /** @type {HTMLElement} */ (term.nextElementSibling);
      const text = `${term.textContent} ${sense.textContent}`.toLowerCase();
      term.hidden = sense.hidden = !text.includes(wanted);
      isAny ||= !term.hidden;
    }
    part.hidden = !isAny;
  }
}
