// Words, numbers, registers and comments of a line, for all our texts alike. Pure.

const KEYWORDS = new Set(
  ("def return import from for in as with lambda if else class True False None reduce over store "
    + "load range endrange acc call define declare ret br phi label select fcmp icmp to ptr")
    .split(" "),
);
const NUMBER = "(?<number>\\b(?:0x[\\da-fA-F]+|\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b)";
const WORDS = new RegExp(NUMBER, "g");
const CODE = new RegExp(
  [
    "(?<comment>(?:#(?!-?\\d)|;|//).*$)",
    "(?<string>\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*')",
    "(?<register>%[\\w.$-]+|\\b[xyz]mm\\d+\\b|\\br(?:[abcd]x|[sd]i|[sb]p|[89]|1[0-5])\\b)",
    NUMBER,
    "(?<word>[A-Za-z_][\\w.]*)",
  ].join("|"),
  "g",
);

/**
 * The line as pieces [text, class]; class is "" for plain text. In words for people only numbers
 * stand out: "for" and ";" are no code there.
 * @param {string} line @param {boolean} isCode
 * @returns {[string, string][]}
 */
export function tokens(line, isCode = true) {
  /** @type {[string, string][]} */
  const pieces = [];
  let end = 0;
  for (const match of line.matchAll(isCode ? CODE : WORDS)) {
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
