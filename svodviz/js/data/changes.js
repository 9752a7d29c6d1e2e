// The changes since the previous revision, put where they are drawn and printed. Pure.

/**
 * @typedef {import("./wire.js").Changes} Changes
 * @typedef {Map<string, Map<string, string>>} Signs of lines: by stage, then by unit and line
 */

/** @param {number} unit @param {number} line counted from 0 */
const placeOf = (unit, line) => `${unit} ${line}`;

/**
 * The signs of printed lines.
 * @param {Changes} changes
 * @returns {Signs}
 */
export function signsOf(changes) {
  return new Map(Object.entries(changes).map(([stage, { units }]) => [stage,
    new Map(units.flatMap(({ unit, lines }) =>
      lines.map(([line, sign]) => /** @type {const} */ ([placeOf(unit, line), sign]))))]));
}

/**
 * The sign of a printed line; "" of one that did not change.
 * @param {Signs} signs @param {string} stage @param {{unit: number, number: number}} row
 */
export function signOf(signs, stage, { unit, number }) {
  return signs.get(stage)?.get(placeOf(unit, number - 1)) ?? "";
}

/**
 * Marks what changed in a model; without changes nothing is marked.
 * @param {import("./model.js").Model} model @param {Changes} changes
 */
export function markChanges(model, changes) {
  model.signs = signsOf(changes);
  for (const stage of model.stages) {
    const rows = changes[stage.id]?.units ?? [];
    stage.units.forEach(({ scene }, unit) => {
      if (!scene) return;
      const nodes = new Map(rows.find((row) => row.unit === unit)?.nodes ?? []);
      scene.marks = new Map(scene.nodes.flatMap((row, node) => {
        const mark = nodes.get(row.e);
        return mark ? [/** @type {[number, string]} */ ([node, mark])] : [];
      }));
      // Pictures are made with their marks.
      scene.picture = undefined;
      scene.pictures = undefined;
    });
  }
  model.revision += 1;
}

/**
 * The mark of several nodes drawn as one.
 * @param {number[]} nodes @param {Map<number, string> | undefined} marks
 */
export function markOf(nodes, marks) {
  if (!marks?.size) return "";
  const found = nodes.map((node) => marks.get(node) ?? "");
  return found.every((mark) => mark === found[0]) ? found[0] : "changed";
}
