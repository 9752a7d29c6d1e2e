// Prints the words that have no meaning in their language: { language: [word, …] } in, the same out.

import { readFileSync } from "node:fs";

import { explain } from "../../../svodviz/js/glossary/lookup.js";

const given = JSON.parse(readFileSync(0, "utf-8"));
const missing = Object.entries(given).map(([language, words]) =>
  [language, words.filter((word) => !explain(word, language))]);
process.stdout.write(JSON.stringify(Object.fromEntries(missing)));
