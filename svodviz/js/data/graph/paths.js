// The paths that lead from one box of a drawing to another: which boxes and edges are on them, how
// many they are, how long the shortest is. Counted, never listed: there may be very many. Pure.

/**
 * @template N
 * @typedef {{from: N, to: N}} Edge
 */
/**
 * @template N
 * @typedef {Object} Paths
 * @property {N} from
 * @property {N} to
 * @property {Set<N>} nodes on any of them
 * @property {number} count how many; Infinity where some go round in circles
 * @property {number} shortest how many edges the shortest has
 */

/**
 * The paths from one node to another; where there are none, those that lead back.
 * @template N
 * @param {Edge<N>[]} edges @param {N} one @param {N} other
 * @returns {Paths<N> | null}
 */
export function pathsBetween(edges, one, other) {
  const [users, inputs] = [nextOf(edges, "from", "to"), nextOf(edges, "to", "from")];
  return directed(users, inputs, one, other) ?? directed(users, inputs, other, one);
}

/**
 * @template N
 * @param {Edge<N>[]} edges @param {"from" | "to"} here @param {"from" | "to"} there
 * @returns {Map<N, Set<N>>} edges between the same two nodes are one way
 */
function nextOf(edges, here, there) {
  /** @type {Map<N, Set<N>>} */
  const found = new Map();
  for (const edge of edges) {
    if (edge.from === edge.to) continue;
    found.set(edge[here], (found.get(edge[here]) ?? new Set()).add(edge[there]));
  }
  return found;
}

/**
 * @template N
 * @param {Map<N, Set<N>>} users @param {Map<N, Set<N>>} inputs @param {N} from @param {N} to
 * @returns {Paths<N> | null}
 */
function directed(users, inputs, from, to) {
  const ahead = distances(users, from);
  const shortest = ahead.get(to);
  if (from === to || shortest === undefined) return null;
  const behind = distances(inputs, to);
  const nodes = new Set([...ahead.keys()].filter((it) => behind.has(it)));
  return { from, to, nodes, shortest, count: countOf(users, inputs, nodes, from, to) };
}

/**
 * The distance in edges of each node that can be reached.
 * @template N
 * @param {Map<N, Set<N>>} next @param {N} start
 */
function distances(next, start) {
  const found = new Map([[start, 0]]);
  for (const [node, away] of found) {
    for (const it of next.get(node) ?? []) if (!found.has(it)) found.set(it, away + 1);
  }
  return found;
}

/**
 * The number of ways, each node after all that lead to it.
 * @template N
 * @param {Map<N, Set<N>>} users @param {Map<N, Set<N>>} inputs @param {Set<N>} nodes
 * @param {N} from @param {N} to
 */
function countOf(users, inputs, nodes, from, to) {
  const inside = (/** @type {Set<N> | undefined} */ all) =>
    [...all ?? []].filter((it) => nodes.has(it));
  const left = new Map([...nodes].map((it) => [it, inside(inputs.get(it)).length]));
  const ways = new Map([[from, 1]]);
  const ready = [...nodes].filter((it) => !left.get(it));
  for (const node of ready) {
    for (const it of inside(users.get(node))) {
      ways.set(it, (ways.get(it) ?? 0) + (ways.get(node) ?? 0));
      left.set(it, (left.get(it) ?? 0) - 1);
      if (!left.get(it)) ready.push(it);
    }
  }
  return ready.length === nodes.size ? ways.get(to) ?? 0 : Infinity;
}
