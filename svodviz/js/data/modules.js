// The modules of a model: the cost of each, and its lines of a stage. Pure.

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("./wire.js").ModuleRow} ModuleRow
 * @typedef {{ns: number, roof: number, moved: number, flops: number}} Work nanoseconds, those at
 *   the machine's best, bytes, operations
 * @typedef {{ns: number, read: number, written: number, flops: number}} Item
 */

const PER_KERNEL = new Set(["loops", "lowered", "llvm", "optimized", "asm"]);

/**
 * The position of the module that an entity is; -1 where it is none.
 * @param {Model} model @param {number} entity
 */
export function moduleOf(model, entity) {
  if (entity < 0 || !model.modules || model.stageOf(entity) !== "modules") return -1;
  return Number(model.entities[entity].split(":")[1]);
}

/**
 * The share of each module in a run, with the modules in it. An item divides among the modules that
 * it serves as the work of its nodes does.
 * @param {Model} model @param {(item: any) => number} timeOf nanoseconds of an item
 * @returns {Work[]}
 */
export function workOf(model, timeOf) {
  const { rows, parts, roofs } = /** @type {import("./wire.js").Modules} */ (model.modules);
  const found = rows.map(() => ({ ns: 0, roof: 0, moved: 0, flops: 0 }));
  model.schedule?.items.forEach((item, position) => {
    const ns = timeOf(item);
    for (const [module, time, operations, bytes] of parts[position] ?? []) {
      const own = found[module];
      own.ns += Number(time) * ns;
      own.roof += Number(time) * Number(roofs[position] ?? ns);
      own.moved += Number(bytes) * (item.read + item.written);
      own.flops += Number(operations) * item.flops;
    }
  });
  for (let at = rows.length - 1; at > 0; at -= 1) { // each stands after the one around it
    const [own, outer] = [found[at], found[rows[at].parent]];
    outer.ns += own.ns;
    outer.roof += own.roof;
    outer.moved += own.moved;
    outer.flops += own.flops;
  }
  return found;
}

/**
 * The share of the roofline, 0 … 1.
 * @param {Work} work
 */
export const ofRoof = ({ ns, roof }) => (ns > 0 ? Math.min(1, roof / ns) : 0);

/**
 * The positions of the modules in each module.
 * @param {ModuleRow[]} rows
 */
export function innerOf(rows) {
  /** @type {number[][]} */
  const inner = rows.map(() => []);
  rows.forEach(({ parent }, at) => parent >= 0 && inner[parent].push(at));
  return inner;
}

/**
 * The depth of a module in the tree.
 * @param {ModuleRow[]} rows @param {number} at
 */
export function depthOf(rows, at) {
  let depth = 0;
  for (let outer = rows[at].parent; outer >= 0; outer = rows[outer].parent) depth += 1;
  return depth;
}

/**
 * True if a module is another, or in it.
 * @param {ModuleRow[]} rows @param {number} at @param {number} outer
 */
export function isInside(rows, at, outer) {
  let module = at;
  while (module > outer) module = rows[module].parent;
  return module === outer;
}

/**
 * The modules that are open at first: from the outside in, as long as so many rows suffice.
 * @param {ModuleRow[]} rows @param {number} most
 */
export function firstOpen(rows, most) {
  const inner = innerOf(rows);
  /** @type {Set<number>} */
  const open = new Set();
  let level = [0];
  let count = 1;
  while (level.length) {
    const next = level.flatMap((at) => inner[at]);
    if (!next.length || count + next.length > most) break;
    level.forEach((at) => inner[at].length && open.add(at));
    count += next.length;
    level = next;
  }
  return open.size ? open : new Set([0]);
}

/**
 * The positions of the rows that are seen when so many are open.
 * @param {ModuleRow[]} rows @param {Set<number>} open
 */
export function seen(rows, open) {
  const isSeen = rows.map(() => true);
  return rows.flatMap(({ parent }, at) => {
    isSeen[at] = parent < 0 || (isSeen[parent] && open.has(parent));
    return isSeen[at] ? [at] : [];
  });
}

/**
 * Items and calls of kernels that do nothing of a module: what several modules share leads to them.
 * @param {Model} model @param {ModuleRow} row
 */
function othersOf(model, { kernels }) {
  const own = new Set(kernels.flatMap(([, items]) => items));
  const all = (model.schedule?.items ?? []).flatMap(({ e, op }, position) =>
    (op === "kernel" ? [{ isOwn: own.has(position), both: [e, ...model.parents[e]] }] : []));
  const kept = new Set(all.filter((it) => it.isOwn).flatMap((it) => it.both));
  return new Set(all.flatMap((it) => it.both).filter((it) => !kept.has(it)));
}

/**
 * The lines of a stage that came of a module: of kernels those that do some of its work. Headings
 * stay where something below them does.
 * @param {Model} model @param {string} stage @param {number} module
 */
export function tracedRows(model, stage, module) {
  const rows = model.text(stage);
  const row = /** @type {import("./wire.js").Modules} */ (model.modules).rows[module];
  const { e, kernels } = row;
  const own = new Set(kernels.map(([name]) => name));
  const others = stage === "kernels" || stage === "schedule" ? othersOf(model, row) : new Set();
  const units = model.stageById.get(stage)?.units ?? [];
  const related = model.related(e);
  /** @param {import("./model.js").TextRow} row */
  const isOwn = ({ heading, entity, unit }) => !heading && related.has(entity)
    && !others.has(entity) && (!PER_KERNEL.has(stage) || own.has(units[unit]?.name ?? ""));
  return withHeadings(rows, isOwn);
}

/**
 * Rows for which something holds, with the headings above them.
 * @param {import("./model.js").TextRow[]} rows
 * @param {(row: import("./model.js").TextRow) => boolean} isOwn
 */
export function withHeadings(rows, isOwn) {
  const found = rows.filter(isOwn);
  const units = new Set(found.map((row) => row.unit));
  return rows.filter((row) => (row.heading ? units.has(row.unit) : isOwn(row)));
}
