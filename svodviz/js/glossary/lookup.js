// The meaning of a word in a language: a sentence and an example. Pure.

import { ARM } from "./arm.js";
import { FIELD } from "./field.js";
import { LLVM } from "./llvm.js";
import { CHOICES, GRAPHS, LOOPS, LOWERED } from "./ours.js";
import { X86 } from "./x86.js";

/**
 * @typedef {import("./entries.js").Entry} Entry
 * @typedef {import("./entries.js").Pattern} Pattern
 * @typedef {import("./entries.js").Row} Row
 */

/**
 * Words of one form, by the language of a text (see kit/tokens.js).
 * @type {Record<string, Pattern[]>}
 */
const PATTERNS = { x86: X86, arm: ARM, llvm: LLVM };

/** Words one by one. @type {Record<string, Row[]>} */
const ROWS = {
  graph: GRAPHS, kernels: GRAPHS, loops: [...LOOPS, ...CHOICES], lowered: LOWERED,
  choices: CHOICES, words: FIELD,
};

/** A word as texts have them: names of LLVM's intrinsics have points. */
const WORD = /[A-Za-z][\w.]*/g;

/** @type {Map<string, Entry | null>} */
const kept = new Map();

/**
 * The meaning of a word in a text of a language; null where none is known.
 * @param {string} word @param {string} language
 * @returns {Entry | null}
 */
export function explain(word, language) {
  const key = `${language} ${word}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = explained(word, language);
  kept.set(key, made);
  return made;
}

/**
 * @param {string} word @param {string} language
 * @returns {Entry | null}
 */
function explained(word, language) {
  for (const [pattern, sentence, example] of PATTERNS[language] ?? []) {
    const match = pattern.exec(word);
    if (match) return { word, sentence: sentence(...match.slice(1)), example };
  }
  const same = /^in\d+$/.test(word) ? "in1" : /^at\d+$/.test(word) ? "at0" : word;
  const row = (ROWS[language] ?? []).find(([name]) => name === same);
  return row ? { word, sentence: row[1], example: row[2] } : null;
}

/**
 * The words of a line that have a meaning, each once, in their order. Of assembly that is the
 * instruction: its operands are registers and names.
 * @param {string} line @param {string} language
 * @returns {Entry[]}
 */
export function wordsOf(line, language) {
  const isAssembly = language === "x86" || language === "arm";
  const code = language === "llvm" ? line.replace(/;.*$/, "") : line;
  const words = (isAssembly ? /^\s*([a-z][\w.]*)(?!:)/.exec(code)?.slice(1) : code.match(WORD))
    ?? [];
  return [...new Set(words)].map((word) => explain(word, language)).filter((it) => it !== null);
}

/**
 * All words that are listed one by one, and those of a form by their examples: a glossary.
 * @returns {[string, Entry[]][]} titles with their words
 */
export function glossary() {
  /** @param {Row[]} rows */
  const listed = (rows) => rows.map(([word, sentence, example]) => ({ word, sentence, example }));
  /** @param {string} language */
  const formed = (language) => PATTERNS[language].flatMap(([, , example]) => {
    const words = example.match(WORD) ?? [];
    const found = words.map((word) => explain(word, language)).find((it) => it !== null);
    return found ? [{ ...found, example }] : [];
  });
  return [
    ["Words of the field", listed(FIELD)], ["Choices about loops", listed(CHOICES)],
    ["Graphs", listed(GRAPHS)], ["Loops", listed(LOOPS)], ["Instructions", listed(LOWERED)],
    ["LLVM IR", formed("llvm")], ["x86-64", formed("x86")], ["AArch64", formed("arm")],
  ];
}
