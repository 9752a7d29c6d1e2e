// The results of a quiz in files: a row for each question, as in Python's `quiz.results()`.

import { h } from "../kit/dom.js";

const COLUMNS = ["student", "quiz", "id", "kind", "level", "question", "given", "answer", "right",
  "attempts", "seconds"];
const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet takes for one
export const GIVEN_UP = -1;

/**
 * The choices that were tried, without the sign that the answer was asked for.
 * @param {number[]} answers
 */
export const triedOf = (answers) => answers.filter((it) => it !== GIVEN_UP);

/**
 * A row for each question.
 * @param {any} wire @param {any} state
 * @returns {Record<string, any>[]}
 */
export function rowsOf(wire, state) {
  return wire.questions.map((question, place) => {
    const tried = triedOf(state.answers[place]);
    return {
      student: state.student, quiz: wire.name, "id": question.id, kind: question.kind,
      level: question.level, question: question.prompt,
      given: tried.length > 0 ? question.choices[tried[0]][0] : "",
      answer: question.choices[question.answer][0], right: tried[0] === question.answer,
      attempts: tried.length, seconds: state.seconds[place],
    };
  });
}

/**
 * A line for each row, under the names of the columns.
 * @param {Record<string, any>[]} rows
 */
export function csvOf(rows) {
  const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => cell(row[name], name)))];
  return lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}

/**
 * The file that `svodviz.quiz_results` reads.
 * @param {Record<string, any>[]} rows
 */
export function jsonOf(rows) {
  return `${JSON.stringify({ format: "svodviz-quiz-results", version: 1, rows }, null, 1)}\n`;
}

/** @param {any} value @param {string} name of its column */
function cell(value, name) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (name === "seconds") return value.toFixed(1);
  const text = String(value);
  return typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
}

/** @param {string} text */
function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Offers a text as a file.
 * @param {string} name @param {string} text @param {string} type
 */
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000); // by then it has been read
}
