// Words, numbers, registers and comments of a line, for all our texts alike. Pure.

const KEYWORDS = new Set(
  ("def return import from for in as with lambda if else class True False None reduce over store "
    + "load range endrange acc call define declare ret br phi label select fcmp icmp to ptr")
    .split(" "),
);
const PATTERN = new RegExp(
  [
    "(?<comment>(?:#(?!-?\\d)|;|//).*$)",
    "(?<string>\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*')",
    "(?<register>%[\\w.$-]+|\\b[xyz]mm\\d+\\b|\\br(?:[abcd]x|[sd]i|[sb]p|[89]|1[0-5])\\b)",
    "(?<number>\\b(?:0x[\\da-fA-F]+|\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b)",
    "(?<word>[A-Za-z_][\\w.]*)",
  ].join("|"),
  "g",
);

/**
 * The line as pieces [text, class]; class is "" for plain text.
 * @param {string} line
 * @returns {[string, string][]}
 */
export function tokens(line) {
  /** @type {[string, string][]} */
  const pieces = [];
  let end = 0;
  for (const match of line.matchAll(PATTERN)) {
    const found = Object.entries(match.groups || {}).find(([, value]) => value !== undefined);
    if (!found) continue;
    const [name, text] = found;
    const style = name === "word" ? (KEYWORDS.has(text) ? "keyword" : "") : name;
    if (!style) continue;
    if (match.index > end) pieces.push([line.slice(end, match.index), ""]);
    pieces.push([text, style]);
    end = match.index + text.length;
  }
  if (end < line.length) pieces.push([line.slice(end), ""]);
  return pieces;
}
