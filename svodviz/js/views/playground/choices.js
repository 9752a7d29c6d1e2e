// Choices of loops as rows that controls can change, and as the text that Python reads. Pure.

/**
 * @typedef {Object} Choice
 * @property {string} kind e.g. tile
 * @property {(string|number)[]} values what stands behind it, in order
 *
 * @typedef {import("../../data/wire.js").LoopRow} Loop
 * @typedef {import("../../data/wire.js").KernelSpace} Kernel
 */

/**
 * The values of each kind, by what they are: an axis, a whole number, a tail, a form, an argument.
 * @type {Record<string, string[]>}
 */
export const KINDS = {
  tile: ["axis", "size", "tail"],
  reorder: ["axes"],
  pack: ["loaded", "at"],
  cache_row: ["axis", "axis"],
  accumulate: ["axis", "size", "at"],
  dot: ["axis", "form"],
  unroll: ["axis"],
  vectorize: ["axis"],
  parallelize: ["axis", "tasks"],
  stream: ["stored"],
  prefetch: ["loaded", "axis", "axis"],
};

/**
 * Rows from text; lines and semicolons part choices, what follows a # is a reason.
 * @param {string} text
 * @returns {Choice[]}
 */
export function parseChoices(text) {
  const parts = text.split("\n").flatMap((line) => line.split("#")[0].split(";"));
  return parts.map((part) => part.trim().split(/\s+/)).filter(([kind]) => kind && kind !== "plain")
    .map(([kind, ...words]) => ({
      kind, values: words.map((word) => (/^\d+$/.test(word) ? Number(word) : word)),
    }));
}

/**
 * The text of rows, as Python prints it.
 * @param {Choice[]} rows
 */
export function printChoices(rows) {
  return rows.map(({ kind, values }) => [kind, ...values].filter((it) => it !== "").join(" "))
    .join("; ") || "plain";
}

/**
 * The loops that rows leave: [name, extent, role]; a part that is left over has what is left.
 * @param {Loop[]} axes @param {Choice[]} rows
 */
export function loopsAfter(axes, rows) {
  let loops = [...axes];
  for (const { kind, values: [name, size] } of rows) {
    if (kind !== "tile") continue;
    loops = loops.flatMap((loop) => (loop[0] === name ? partsOf(loop, Number(size)) : [loop]));
  }
  return loops;
}

/**
 * @param {Loop} loop @param {number} size
 * @returns {Loop[]}
 */
function partsOf([name, extent, role], size) {
  const [whole, rest] = [Math.floor(extent / size), extent % size];
  /** @type {Loop[]} */
  const parts = [[`${name}.0`, whole, role], [`${name}.1`, size, role]];
  return rest ? [...parts, [`${name}.2`, rest, role]] : parts;
}

/**
 * Every name that a choice may speak of: axes, and parts of those that are cut.
 * @param {Loop[]} axes @param {Choice[]} rows
 */
export function namesAfter(axes, rows) {
  const names = axes.map(([name]) => name);
  for (const { kind, values: [name] } of rows) {
    const at = kind === "tile" ? names.indexOf(String(name)) : -1;
    if (at >= 0) names.splice(at + 1, 0, `${name}.0`, `${name}.1`, `${name}.2`);
  }
  return names;
}

/**
 * Sizes of tiles worth a step of the slider, below `extent`.
 * @param {number} extent
 */
export function sizesBelow(extent) {
  const sizes = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
  return sizes.filter((size) => size < extent);
}

/**
 * Rows with a tile of an axis more; an order that has the axis has its parts instead.
 * @param {Choice[]} rows @param {string} axis @param {number} size
 * @returns {Choice[]}
 */
export function withTile(rows, axis, size) {
  const made = { kind: "tile", values: [axis, size, "peel"] };
  const at = rows.findIndex((row) => row.kind !== "tile");
  const place = at < 0 ? rows.length : at;
  const parts = [`${axis}.0`, `${axis}.1`];
  const changed = rows.map((row) => (row.kind === "reorder"
    ? { ...row, values: row.values.flatMap((it) => (it === axis ? parts : [it])) } : row));
  return [...changed.slice(0, place), made, ...changed.slice(place)];
}

/**
 * Rows without one of them; with a tile goes what speaks of its parts.
 * @param {Choice[]} rows @param {number} position
 * @returns {Choice[]}
 */
export function without(rows, position) {
  const gone = rows[position];
  const left = rows.filter((_, index) => index !== position);
  if (gone.kind !== "tile") return left;
  const [axis] = gone.values;
  /** @param {string | number} name */
  const isPart = (name) => typeof name === "string" && name.startsWith(`${axis}.`);
  return left.flatMap((row) => {
    if (row.kind !== "reorder") return row.values.some(isPart) ? [] : [row];
    const order = row.values.map((name) => (isPart(name) ? axis : name));
    return [{ ...row, values: [...new Set(order)] }];
  });
}

/**
 * A new choice with values that are likely to be meant; several rows for vectors.
 * @param {Choice[]} rows @param {string} kind @param {Kernel} kernel
 * @returns {Choice[]}
 */
export function added(rows, kind, kernel) {
  const loops = loopsAfter(kernel.axes, rows);
  const normal = loops.filter(([, , role]) => role === "normal");
  const inner = normal.filter(([name]) => !name.endsWith(".2"));
  const long = [...inner].reverse().find(([, extent]) => extent > kernel.lanes) || inner[0];
  const short = inner.find(([name, extent]) => name.includes(".") && extent <= 16);
  const outer = normal[0]?.[0] ?? "";
  const last = loops.at(-1)?.[0] ?? "";
  switch (kind) {
    case "tile": return withTile(rows, loops[0][0], Math.min(16, Math.max(1, loops[0][1] >> 1)));
    case "vectors": return vectors(rows, long, kernel.lanes);
    case "reorder": return [...rows, { kind, values: inner.map(([name]) => name) }];
    case "pack": return [...rows, { kind, values: [kernel.loaded.at(-1) ?? 1, outer] }];
    case "cache_row": return [...rows, { kind, values: [last, outer] }];
    case "accumulate": return [...rows, { kind, values: [last, 8, ""] }];
    case "dot": return [...rows, { kind, values: [last, "plain"] }];
    case "parallelize": return [...rows, { kind, values: [outer, Math.max(2, kernel.cores)] }];
    case "stream": return [...rows, { kind, values: [kernel.stored[0] ?? 0] }];
    case "prefetch": return [...rows, { kind, values: [kernel.loaded[0] ?? 1, ...ahead(kernel)] }];
    default: return [...rows, { kind, values: [(short || inner.at(-1) || loops[0])[0]] }];
  }
}

/**
 * The axis that rows are read along, the last one, and the one around it, over rows.
 * @param {Kernel} kernel
 */
function ahead({ axes }) {
  const along = axes.findLast(([, , role]) => role === "reduction") ?? axes[axes.length - 1];
  const around = axes.filter((axis) => axis !== along && axis[2] === "normal");
  return [along[0], (around[0] ?? along)[0]];
}

/**
 * An axis cut into vectors, and the inner part as lanes.
 * @param {Choice[]} rows @param {Loop} loop @param {number} lanes
 * @returns {Choice[]}
 */
function vectors(rows, [axis, extent], lanes) {
  if (extent === lanes) return [...rows, { kind: "vectorize", values: [axis] }];
  return [...withTile(rows, axis, lanes), { kind: "vectorize", values: [`${axis}.1`] }];
}

/** The kinds that can be added, with the words of the menu. */
export const ADDABLE = [
  ["tile", "tile: partition a loop"],
  ["vectors", "vectorise: iterations as lanes"],
  ["reorder", "loop order"],
  ["unroll", "unroll: iterations side by side"],
  ["parallelize", "parallel: iterations over threads"],
  ["pack", "pack an argument"],
  ["accumulate", "accumulators in registers"],
  ["cache_row", "store values instead of recomputing them"],
  ["dot", "dot-product instructions for small types"],
  ["stream", "non-temporal stores (bypass the caches)"],
  ["prefetch", "prefetch the next rows"],
];
