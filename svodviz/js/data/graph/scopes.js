// The public calls that made a graph, and the functions and iterations around them, as groups that
// open into each other: see compiler/graph/scopes.py. Pure.

import { counted } from "../../kit/words.js";
import { commonest, inherited } from "./inherited.js";
import { BACK, isBack, pairsOf, twinName } from "./twins.js";

/**
 * @typedef {import("../model.js").Model} Model
 * @typedef {import("../wire.js").Graph} Graph
 * @typedef {import("../wire.js").NodeRow} NodeRow
 * @typedef {import("./folding.js").Group} Group
 */

/** @type {Record<string, string[]>} the kinds of scopes that each way of folding makes groups of */
export const SCOPED = {
  path: ["call", "function", "module", "optimizer", "repeat", "iteration", "rest", "lines"],
  call: ["call"],
  repeat: ["repeat", "iteration", "rest"],
};
// Boxes that a graph opens with at most, where they can be read; less is tried where they cannot.
export const BUDGETS = [40, 28, 20, 14, 10, 6];
const SOME = 16; // boxes up to which functions open: what they are called says more
const NAMED = 20; // the same for modules, which their author gave names
const FEW = 4; // boxes up to which a repetition opens, too
const FRAMELESS = ["lines"]; // what holds neighbours only so that they are not too many

/**
 * The groups that the scopes of a graph's nodes make, each after the one around it.
 * @param {Model} model @param {Graph} scene @param {string} folding an id of SCOPED
 * @returns {Group[]}
 */
export function scopeGroups(model, scene, folding) {
  /** @type {Map<string, {scope: number, isBack: boolean, nodes: number[]}>} */
  const found = new Map();
  scene.nodes.forEach((row, node) => {
    const back = isBack(model, row);
    for (let scope = scopeOf(model, row); scope >= 0; scope = model.scopes[scope][2]) {
      const name = nameOf(scope, back);
      const group = found.get(name) ?? { scope, isBack: back, nodes: [] };
      found.set(name, group);
      group.nodes.push(node);
    }
  });
  const kept = [...found].filter(([, { scope }]) =>
    SCOPED[folding].includes(model.scopes[scope][0]))
    .sort(([, a], [, b]) => a.scope - b.scope || Number(a.isBack) - Number(b.isBack));
  const position = new Map(kept.map(([name], i) => [name, i]));
  return kept.map(([name, { scope, isBack: back, nodes }]) => {
    const [kind, key, first] = model.scopes[scope];
    let parent = first;
    while (parent >= 0 && !position.has(nameOf(parent, back))) parent = model.scopes[parent][2];
    return { name, key: back ? key + BACK : key, nodes, scope, isBack: back,
      parent: position.get(nameOf(parent, back)) ?? -1, isFrameless: FRAMELESS.includes(kind) };
  });
}

/** @param {number} scope @param {boolean} back */
const nameOf = (scope, back) => `scope ${scope}${back ? BACK : ""}`;

/**
 * The call in which a node was made, or the scope that holds it; -1 for none.
 * @param {Model} model @param {NodeRow} row
 */
export function scopeOf(model, row) {
  if (row.scope !== undefined) return row.scope;
  model.scopeByEntity ??= new Map(rowsOfGraph(model).flatMap((it) =>
    [[it.e, it.scope ?? -1]]));
  return model.scopeByEntity.get(row.e) ?? inherited(model, row, model.scopeByEntity) ?? -1;
}

/** @param {Model} model */
const rowsOfGraph = (model) =>
  (model.stageById.get("graph")?.units ?? []).flatMap((unit) => unit.scene?.nodes ?? []);

/**
 * The groups that are open at first, from the outside in: neighbours that were only taken together
 * as long as boxes are few enough to be read, functions and repetitions where there are fewer. The
 * forward and the backward pass of a module open together, and count as one.
 * @param {Model} model @param {Group[]} groups @param {number} count of nodes @param {number} most
 * @returns {string[]} names
 */
export function openWithin(model, groups, count, most) {
  const { inner, own, loose } = contentsOf(groups, count);
  const pairs = pairsOf(groups);
  const outermost = groups.flatMap((group, i) => ((group.parent ?? -1) < 0 ? [i] : []));
  let boxes = outermost.length + loose;
  let read = boxes - outermost.filter((it) => pairs[it][1] < it).length;
  const open = new Set();
  /** @param {number} group */
  const kindOf = (group) => model.scopes[groups[group].scope ?? 0][0];
  for (const kinds of [["lines"], ["lines", "function", "module", "repeat", "iteration"]]) {
    const visible = [...outermost];
    for (const group of visible) {
      const kind = kindOf(group);
      if (!open.has(group) && kinds.includes(kind) && (kind !== "repeat" || boxes <= FEW)) {
        const [more, moreRead] = gainOf(pairs[group], pairs, inner, own);
        const limit = kind === "lines" ? most : kind === "module" ? NAMED : SOME;
        if (boxes + more <= most && read + moreRead <= limit) {
          boxes += more;
          read += moreRead;
          pairs[group].forEach((it) => open.add(it));
        }
      }
      if (open.has(group)) visible.push(...inner[group]);
    }
  }
  return groups.flatMap(({ name }, i) => (open.has(i) ? [name] : []));
}

/**
 * The number of boxes that open groups add, and of those that are not the other
 * direction of one.
 * @param {number[]} opened @param {number[][]} pairs @param {number[][]} inner of each group
 * @param {number[]} own how many nodes stand in each group alone
 */
function gainOf(opened, pairs, inner, own) {
  const groups = opened.flatMap((it) => inner[it]);
  const nodes = opened.reduce((sum, it) => sum + own[it], 0);
  const known = new Set(groups);
  const twins = groups.filter((it) => pairs[it][1] < it && known.has(pairs[it][1])).length;
  return [groups.length + nodes - opened.length, groups.length - twins + nodes - 1];
}

/**
 * The groups in each group, how many nodes stand in it alone, and how many in none.
 * @param {Group[]} groups @param {number} count
 */
function contentsOf(groups, count) {
  /** @type {number[][]} */
  const inner = groups.map(() => []);
  const own = groups.map(({ nodes }) => nodes.length);
  let loose = count;
  groups.forEach(({ parent = -1, nodes }, i) => {
    if (parent < 0) {
      loose -= nodes.length;
      return;
    }
    inner[parent].push(i);
    own[parent] -= nodes.length;
  });
  return { inner, own, loose };
}

/**
 * The names of what opens with a group: its other direction, and with a repetition the first
 * iteration.
 * @param {Group[]} groups @param {Model} model @param {string} name
 */
export function openedWith(model, groups, name) {
  const twin = twinName(name);
  const names = groups.some((group) => group.name === twin) ? [name, twin] : [name];
  return names.flatMap((it) => [it, ...firstIn(model, groups, it)]);
}

/**
 * @param {Model} model @param {Group[]} groups @param {string} name
 * @returns {string[]}
 */
function firstIn(model, groups, name) {
  const at = groups.findIndex((group) => group.name === name);
  const [kind] = at < 0 ? [""] : model.scopes[groups[at].scope ?? 0];
  const first = kind === "repeat" ? groups.find((group) => group.parent === at) : undefined;
  const isOpened = first && model.scopes[first.scope ?? 0][0] !== "call";
  return isOpened ? [first.name] : [];
}

/**
 * The text on the box of a group: title, result, and the kind that colours it.
 * @param {Model} model @param {Group} group @param {NodeRow[]} rows its nodes
 * @returns {{title: string, detail: string, kind: string, isCall: boolean}}
 */
export function scopeWords(model, group, rows) {
  const scope = group.scope ?? 0;
  const [kind, plain, , lines, count, result] = model.scopes[scope];
  const mark = group.isBack ? BACK : "";
  // Views of the result that only others read are drawn with it: they are not what it gives.
  const last = rows.find((row) => row.e === result) ?? rows[rows.length - 1];
  const type = `${last.dtype ?? ""}${last.shape ?? ""}`;
  const calls = callsIn(model)[scope];
  const operators = group.isBack ? counted(rows.length, "node") : counted(calls, "operator");
  const colour = commonest(rows.map((row) => row.kind).filter((it) => !PLAIN.has(it)), "")
    || last.kind;
  if (kind === "call") {
    const title = `${plain} ${last.name ?? ""}`.trim() + mark;
    return { title, detail: type, kind: mainKind(rows), isCall: true };
  }
  if (kind === "repeat") {
    const each = calls % count || group.isBack ? operators
      : `${counted(calls / count, "operator")} each`;
    const title = `${plain} × ${count}${mark}`;
    return { title, detail: `${each} → ${type}`, kind: "loop", isCall: false };
  }
  const text = lines.length === 1 && kind === "lines" ? sourceText(model, lines[0]) : "";
  const detail = text || `${operators} → ${type}`;
  return { title: plain + mark, detail, kind: colour, isCall: false };
}

const PLAIN = new Set(["buffer", "const", "movement", "cast"]);
const MAIN = ["reduce", "memory", "elementwise", "cast", "movement", "const", "buffer"];

/**
 * The kind of node that does the work of a call.
 * @param {NodeRow[]} rows
 */
function mainKind(rows) {
  const kinds = new Set(rows.map((row) => row.kind));
  return MAIN.find((kind) => kinds.has(kind)) ?? rows[rows.length - 1].kind;
}

/**
 * The number of calls in each scope.
 * @param {Model} model
 */
function callsIn(model) {
  if (model.callCounts) return model.callCounts;
  const counts = model.scopes.map(([kind]) => Number(kind === "call"));
  for (let scope = counts.length - 1; scope >= 0; scope -= 1) {
    const parent = model.scopes[scope][2];
    if (parent >= 0) counts[parent] += counts[scope];
  }
  model.callCounts = counts;
  return counts;
}

/** @param {Model} model @param {number} line the entity of a line */
const sourceText = (model, line) => model.lineOf.get(line)?.text.trim() ?? "";
