// Keywords, numbers, strings, registers and comments of a line, as its language has them. Pure.

/**
 * The signs of one language. Languages without comments or strings have none: `;`
 * ends an instruction of PTX, and `//` divides in Python and in our loops.
 * @typedef {{comment?: string, string?: string, register?: string, keywords?: string}} Language
 */

const NUMBER = "\\b(?:0[xfd][\\da-fA-F]+|\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b";
const DOUBLE = "\"(?:[^\"\\\\]|\\\\.)*\"";
const SINGLE = "'(?:[^'\\\\]|\\\\.)*'";
// A string over several lines: to its end, or to that of the line.
const LONG = ['"""', "'''"].map((it) => `${it}(?:[^\\\\]|\\\\.)*?(?:${it}|$)`).join("|");
const ASSEMBLER = "call ret ptr";
/** Our own texts: `%12` is a value, unless it divides what stands before it. */
const OURS = {
  register: "(?<![\\w)\\]])%\\d+",
  keywords: "for in if else acc reduce over load store range endrange call",
};

/** @type {Record<string, Language>} */
const LANGUAGES = {
  python: {
    comment: "#.*$",
    string: `(?:\\b[rbfuRBFU]{1,2})?(?:${LONG}|${DOUBLE}|${SINGLE})`,
    keywords: "and as assert async await break class continue def del elif else except False"
      + " finally for from global if import in is lambda None nonlocal not or pass raise return"
      + " True try while with yield",
  },
  graph: OURS, kernels: OURS, loops: OURS, lowered: OURS,
  llvm: {
    comment: ";.*$",
    string: DOUBLE,
    register: "%(?:\"[^\"]*\"|[\\w.$-]+)",
    keywords: "define declare attributes ret br switch phi label select fcmp icmp to ptr load store"
      + " call unreachable",
  },
  instructions: { comment: ";.*$", string: DOUBLE, register: "%[\\w.]+|\\$\\w+" },
  x86: {
    comment: "#.*$",
    register: "\\b(?:[xyz]mm\\d+|[re]?(?:[abcd]x|[sd]i|[sb]p)|[abcd][lh]|(?:[sd]i|[sb]p)l"
      + "|r(?:[89]|1[0-5])[bwd]?|rip|k[0-7])\\b(?!:)",
    keywords: ASSEMBLER,
  },
  arm: {
    comment: "//.*$",
    register: "\\b(?:[xwbhsdqvz](?:[12]?\\d|3[01])|p(?:\\d|1[0-5])|w?sp|[xw]zr)\\b(?!:)",
    keywords: "ret",
  },
  riscv: {
    comment: "#.*$",
    register: "\\b(?:zero|ra|sp|gp|tp|f?a[0-7]|t[0-6]|f?s(?:\\d|1[01])|ft(?:\\d|1[01])"
      + "|v(?:[12]?\\d|3[01]))\\b(?!:)",
    keywords: "call ret",
  },
  wasm: {
    comment: "#.*$",
    keywords: "block loop if else end_block end_loop end_if end_function br br_if call return",
  },
  nvptx: { comment: "//.*$", string: DOUBLE, register: "%[\\w.$]+", keywords: "call ret" },
  // Words for people, and what is of no language that is known: only numbers stand out.
  words: {},
};

/** The language of each stage's lines; stages without one print words for people. */
const OF_STAGES = new Map([["source", "python"], ["optimized", "llvm"],
  ...["graph", "kernels", "loops", "lowered", "llvm"].map((id) => /** @type {[string, string]} */ (
    [id, id]))]);

/** @type {Map<string, {code: RegExp, keywords: Set<string>}>} */
const kept = new Map();

/**
 * The language of a stage's lines; `host` is that of this machine's assembly.
 * @param {string} stage @param {string} [host]
 */
export function languageOf(stage, host = "") {
  return stage === "asm" ? assemblyOf(host) : OF_STAGES.get(stage) ?? "words";
}

/**
 * The language of a machine's assembly: "arm" of "arm-sve"; "words" where it is not known.
 * @param {string} machine
 */
export function assemblyOf(machine) {
  const [name] = machine.split("-");
  return name in LANGUAGES ? name : "words";
}

/** @param {string} name */
function languageNamed(name) {
  const { keywords = "", ...kinds } = LANGUAGES[name] ?? LANGUAGES.words;
  const parts = Object.entries(kinds).map(([kind, pattern]) => `(?<${kind}>${pattern})`);
  parts.push(`(?<number>${NUMBER})`);
  if (keywords) parts.push("(?<word>[A-Za-z_][\\w.]*)");
  return { code: new RegExp(parts.join("|"), "g"), keywords: new Set(keywords.split(" ")) };
}

/**
 * The line as pieces [text, class]; class is "" for plain text.
 * @param {string} line @param {string} language
 * @param {string} open the quotes of the string that the line begins in; "" in most
 * @returns {[string, string][]}
 */
export function tokens(line, language, open = "") {
  if (open) {
    const end = line.indexOf(open);
    if (end < 0) return line ? [[line, "string"]] : [];
    const rest = end + open.length;
    return [[line.slice(0, rest), "string"], ...tokens(line.slice(rest), language)];
  }
  const { code, keywords } = kept.get(language) ?? languageNamed(language);
  kept.set(language, { code, keywords });
  /** @type {[string, string][]} */
  const pieces = [];
  let end = 0;
  for (const match of line.matchAll(code)) {
    const found = Object.entries(match.groups || {}).find(([, value]) => value !== undefined);
    if (!found) continue;
    const [name, text] = found;
    const style = name === "word" ? (keywords.has(text) ? "keyword" : "") : name;
    if (!style) continue;
    if (match.index > end) pieces.push([line.slice(end, match.index), ""]);
    pieces.push([text, style]);
    end = match.index + text.length;
  }
  if (end < line.length) pieces.push([line.slice(end), ""]);
  return pieces;
}

/**
 * For each line the quotes of the string that it begins in: strings of Python go over lines.
 * @param {string[]} lines @param {string} language
 * @returns {string[]}
 */
export function quotesOf(lines, language) {
  if (language !== "python") return lines.map(() => "");
  let open = "";
  return lines.map((line) => {
    const begin = open;
    open = openAfter(line, open);
    return begin;
  });
}

/** @param {string} line @param {string} open */
function openAfter(line, open) {
  if (open && !line.includes(open)) return open;
  const [text, kind] = tokens(line, "python", open).at(-1) ?? ["", ""];
  const quotes = kind === "string" ? /^[rbfu]{0,2}("""|''')/i.exec(text) : null;
  if (!quotes) return "";
  const isShut = text.length >= quotes[0].length + 3 && text.endsWith(quotes[1]);
  return isShut ? "" : quotes[1];
}
