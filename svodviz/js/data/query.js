// The query typed into the search field: words, or fields such as "op:mul dtype:f32 line:12". Pure.

const FIELDS = ["op", "dtype", "shape", "name", "line", "kind", "arg"];

/** @typedef {{field: string, text: string}} Term */
/**
 * The terms of a query; all must match. Words with a field's name before a colon look only there.
 * @param {string} query
 * @returns {Term[]}
 */
export function termsOf(query) {
  return query.toLowerCase().trim().split(/\s+/).filter(Boolean).map((word) => {
    const [field, ...rest] = word.split(":");
    return rest.length && FIELDS.includes(field)
      ? { field, text: rest.join(":") } : { field: "", text: word };
  });
}

/**
 * True if something with these fields matches all terms. A line is matched whole, all else in part.
 * @param {Term[]} terms
 * @param {Record<string, string | undefined>} fields
 * @param {string} words everything that words without a field are looked for in
 * @param {() => number[]} lines the program's lines it comes from, asked for only by "line:"
 */
export function matches(terms, fields, words, lines) {
  return terms.every(({ field, text }) => {
    if (field === "line") return text !== "" && lines().map(String).includes(text);
    return (field ? fields[field] ?? "" : words).toLowerCase().includes(text);
  });
}

export const HINT = `words, or ${FIELDS.map((it) => `${it}:…`).join(" ")}`;
