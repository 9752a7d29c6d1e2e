// Lines of the program by the files that they stand in. Pure.

/** @typedef {import("./model.js").Model} Model */

/**
 * The source of a line of the listing: `program.py:12`; "" if it is not known.
 * @param {Model} model @param {number} number of the line in the listing
 */
export function placeOfLine(model, number) {
  const files = model.stageById.get("source")?.units[0]?.files ?? [];
  const file = files.findLast(([from]) => from <= number);
  return file ? `${file[1]}:${number - file[0] + file[2]}` : "";
}

/**
 * The lines of the program that an entity comes from: `program.py:12, program.py:14`.
 * @param {Model} model @param {number} entity
 */
export function placesOf(model, entity) {
  const lines = entity < 0 ? [] : model.origins(entity);
  return lines.map((it) => placeOfLine(model, it)).filter(Boolean).join(", ");
}
