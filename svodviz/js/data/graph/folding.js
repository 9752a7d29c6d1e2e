// Groups of nodes that can be drawn as one: what belongs together, and what is seen. Pure.

import { ranksOf } from "./layers.js";

/**
 * @typedef {import("./layers.js").Ends} Ends
 *
 * @typedef {Object} Group
 * @property {string} name its key, and which of the connected parts with that key
 * @property {string} key
 * @property {number[]} nodes
 * @property {number} [parent] position of the group around it, which comes before it; -1 for none
 * @property {number} [scope] position of the scope that it is
 * @property {boolean} [isBack] whether it is the part of its scope in the backward pass
 * @property {boolean} [isFrameless] whether no frame is drawn around it where it is open
 *
 * @typedef {Object} Part what is drawn as one box
 * @property {number[]} nodes one node, or all of a folded group
 * @property {number} group position of the folded group, -1 for a single node
 * @property {number} frame position of the open group whose frame it stands in, -1 for none
 * @property {number} home position of the innermost open group it stands in, -1 for none
 *
 * @typedef {{from: number, to: number, edges: number[]}} Link an edge between parts
 */

// Nodes above which a graph opens folded. On two cores with Debian 12 and no graphics card, at a
// date not on record, pages moved 57 times a second with 500 nodes drawn, 17 with 2,000, 3 with
// 10,000.
export const FOLD_ABOVE = 1500;
const STRETCHES = 60; // groups that folding by depth makes at most: a choice

/**
 * For each node how many changes of key lie between it and the results at least. Along an edge it
 * never falls, and it rises where the key changes: so nodes of one key and one level can be drawn
 * as one, and no path leads out of them and back.
 * @param {string[]} keys @param {Ends[]} edges
 * @returns {number[]} at most 0
 */
export function levelsOf(keys, edges) {
  /** @type {number[][]} */
  const producers = keys.map(() => []);
  const waiting = new Array(keys.length).fill(0);
  for (const [from, to] of edges) {
    if (from === to) continue;
    producers[to].push(from);
    waiting[from] += 1;
  }
  const level = new Array(keys.length).fill(0);
  const ready = waiting.flatMap((count, node) => (count ? [] : [node]));
  for (let at = 0; at < ready.length; at += 1) {
    const user = ready[at];
    for (const node of producers[user]) {
      level[node] = Math.min(level[node], level[user] - (keys[node] === keys[user] ? 0 : 1));
      waiting[node] -= 1;
      if (!waiting[node]) ready.push(node);
    }
  }
  return level;
}

/**
 * Gives what has no inputs (weights, constants) the key of its users, where they have the same.
 * @param {string[]} keys @param {Ends[]} edges
 * @returns {string[]}
 */
export function withLeaves(keys, edges) {
  const hasInputs = new Uint8Array(keys.length);
  for (const [, to] of edges) hasInputs[to] = 1;
  /** @type {Map<number, string>} */
  const found = new Map();
  for (const [from, to] of edges) {
    if (hasInputs[from]) continue;
    found.set(from, (found.get(from) ?? keys[to]) === keys[to] ? keys[to] : "");
  }
  return keys.map((key, node) => found.get(node) ?? key);
}

/**
 * The connected parts of at least two nodes that share a key and a level; "" is no key.
 * @param {string[]} keys of each node
 * @param {Ends[]} edges
 * @returns {Group[]}
 */
export function groupsOf(keys, edges) {
  const root = keys.map((_, node) => node);
  const level = levelsOf(keys, edges);
  /** @param {number} node */
  const find = (node) => {
    let at = node;
    while (root[at] !== at) {
      root[at] = root[root[at]];
      at = root[at];
    }
    return at;
  };
  /** @param {number} from @param {number} to */
  const isInside = (from, to) => keys[from] !== "" && keys[from] === keys[to];
  /** @param {number} from @param {number} to */
  const join = (from, to) => {
    const [a, b] = [find(from), find(to)];
    root[Math.max(a, b)] = Math.min(a, b);
  };
  const hasInputs = new Uint8Array(keys.length);
  for (const [, to] of edges) hasInputs[to] = 1;
  const inner = edges.filter(([from, to]) => isInside(from, to));
  for (const [from, to] of inner) {
    if (hasInputs[from] && level[from] === level[to]) join(from, to);
  }
  const shared = sharedAmong(inner.filter(([from]) => !hasInputs[from]), find);
  for (const [from, to] of inner) {
    if (!hasInputs[from] && !shared.has(from) && level[from] === level[to]) join(from, to);
  }
  /** @type {Map<number, number[]>} */
  const members = new Map();
  keys.forEach((key, node) => {
    if (!key || shared.has(node)) return;
    const first = find(node);
    if (!members.has(first)) members.set(first, []);
    members.get(first)?.push(node);
  });
  /** @type {Map<string, number>} */
  const counts = new Map();
  return [...members.values()].filter((nodes) => nodes.length > 1).map((nodes) => {
    const key = keys[nodes[0]];
    const number = (counts.get(key) ?? 0) + 1;
    counts.set(key, number);
    return { name: `${key} #${number}`, key, nodes };
  });
}

/**
 * The inputs (constants, weights) that several groups of one key read: they belong to none.
 * @param {Ends[]} edges from inputs @param {(node: number) => number} find the group of a node
 * @returns {Set<number>}
 */
function sharedAmong(edges, find) {
  /** @type {Map<number, number>} */
  const first = new Map();
  /** @type {Set<number>} */
  const found = new Set();
  for (const [from, to] of edges) {
    const group = find(to);
    if ((first.get(from) ?? group) !== group) found.add(from);
    first.set(from, group);
  }
  return found;
}

/**
 * Keys by depth, for any graph: stretches of layers with about the same number of nodes.
 * @param {number} count @param {Ends[]} edges
 * @returns {string[]}
 */
export function stretchesOf(count, edges) {
  const rank = ranksOf(count, edges.filter(([from, to]) => from !== to));
  const order = rank.map((_, node) => node).sort((a, b) => rank[a] - rank[b] || a - b);
  const most = Math.max(2, Math.ceil(count / STRETCHES));
  /** @type {string[]} */
  const keys = new Array(count).fill("");
  for (let start = 0; start < count;) {
    let end = Math.min(count, start + most);
    while (end < count && rank[order[end]] === rank[order[end - 1]] && end - start < 2 * most) {
      end += 1;
    }
    const [first, last] = [rank[order[start]], rank[order[end - 1]]];
    const key = `${count}: layers ${first} to ${last}, from node ${start}`;
    for (const node of order.slice(start, end)) keys[node] = key;
    start = end;
  }
  return keys;
}

/**
 * The parts that are drawn: groups that are not open as one part, all other nodes by themselves.
 * For nested groups, the outermost that is not open: it is drawn.
 * @param {number} count
 * @param {Group[]} groups
 * @param {Set<string>} open names of groups whose nodes are drawn
 * @param {Set<number> | null} shown the nodes that are drawn at all; null for every one
 * @returns {{parts: Part[], partOf: Int32Array}} `partOf` is -1 for what is not drawn
 */
export function partsOf(count, groups, open, shown = null) {
  const partOf = new Int32Array(count).fill(-1);
  const groupOf = new Int32Array(count).fill(-1);
  groups.forEach(({ nodes }, group) => nodes.forEach((node) => { groupOf[node] = group; }));
  const closed = closedOf(groups, open);
  /** @type {Part[]} */
  const parts = [];
  /** @type {Map<number, number>} */
  const folds = new Map();
  for (let node = 0; node < count; node += 1) {
    if (shown && !shown.has(node)) continue;
    const group = groupOf[node] < 0 ? -1 : closed[groupOf[node]];
    const known = group < 0 ? undefined : folds.get(group);
    partOf[node] = known ?? parts.length;
    if (known !== undefined) {
      parts[known].nodes.push(node);
    } else {
      if (group >= 0) folds.set(group, parts.length);
      const home = group < 0 ? groupOf[node] : groups[group].parent ?? -1;
      parts.push({ nodes: [node], group, home, frame: framedBy(groups, home) });
    }
  }
  return { parts, partOf };
}

/**
 * For each group the outermost around it, or itself, that is not open; -1 where all are.
 * @param {Group[]} groups @param {Set<string>} open
 */
function closedOf(groups, open) {
  /** @type {number[]} */
  const closed = [];
  groups.forEach(({ name, parent = -1 }, group) => {
    const outer = parent < 0 ? -1 : closed[parent];
    closed.push(outer >= 0 || open.has(name) ? outer : group);
  });
  return closed;
}

/**
 * The innermost group from `group` outwards that has a frame.
 * @param {Group[]} groups @param {number} group
 */
export function framedBy(groups, group) {
  let at = group;
  while (at >= 0 && groups[at].isFrameless) at = groups[at].parent ?? -1;
  return at;
}

/**
 * The edges between parts: one for each pair, with the edges it stands for. Those inside a folded
 * group are not drawn.
 * @param {Ends[]} edges
 * @param {Part[]} parts
 * @param {Int32Array} partOf
 * @returns {Link[]}
 */
export function linksOf(edges, parts, partOf) {
  /** @type {Map<number, Link>} */
  const links = new Map();
  edges.forEach(([source, target], edge) => {
    const [from, to] = [partOf[source], partOf[target]];
    if (from < 0 || to < 0 || (from === to && parts[from].group >= 0)) return;
    const key = from * parts.length + to;
    const known = links.get(key);
    if (known) known.edges.push(edge);
    else links.set(key, { from, to, edges: [edge] });
  });
  return [...links.values()];
}

/**
 * The nodes that are constants, or follow from constants alone.
 * @param {{kind: string}[]} rows @param {Ends[]} edges
 * @returns {boolean[]}
 */
export function constantsOf(rows, edges) {
  /** @type {number[][]} */
  const users = rows.map(() => []);
  const hasInputs = new Uint8Array(rows.length);
  for (const [from, to] of edges) {
    users[from].push(to);
    hasInputs[to] = 1;
  }
  const found = rows.map(() => true);
  const stack = rows.flatMap(({ kind }, node) =>
    (hasInputs[node] || kind === "const" ? [] : [node]));
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!found[node]) continue;
    found[node] = false;
    stack.push(...users[node]);
  }
  return found;
}

/**
 * The nodes that have an edge to or from one of `nodes`, and these themselves.
 * @param {Iterable<number>} nodes @param {Ends[]} edges
 */
export function withNeighbours(nodes, edges) {
  const inner = new Set(nodes);
  const found = new Set(inner);
  for (const [from, to] of edges) {
    if (inner.has(from)) found.add(to);
    if (inner.has(to)) found.add(from);
  }
  return found;
}

/**
 * For each shown node the number of neighbours that are not shown.
 * @param {Set<number>} shown @param {Ends[]} edges
 * @returns {Map<number, number>}
 */
export function hiddenBeside(shown, edges) {
  /** @type {Map<number, Set<number>>} */
  const found = new Map();
  /** @param {number} node @param {number} other */
  const note = (node, other) => {
    if (!shown.has(node) || shown.has(other)) return;
    if (!found.has(node)) found.set(node, new Set());
    found.get(node)?.add(other);
  };
  for (const [from, to] of edges) {
    note(from, to);
    note(to, from);
  }
  return new Map([...found].map(([node, others]) => [node, others.size]));
}

/**
 * "add ×12, mul ×3 and 4 more kinds": what is in a group.
 * @param {string[]} ops
 */
export function census(ops, most = 2) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  ops.forEach((op) => counts.set(op, (counts.get(op) ?? 0) + 1));
  const order = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const words = order.slice(0, most).map(([op, n]) => (n > 1 ? `${op} ×${n}` : op)).join(", ");
  return order.length > most ? `${words} + ${order.length - most} kinds` : words;
}
