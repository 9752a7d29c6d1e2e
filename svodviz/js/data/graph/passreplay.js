// Replays passes from deltas (see pass_replay.py). Pure: no page, no state.

/**
 * @typedef {import("../wire.js").Delta} Delta what comes, what goes, and what now reads differently
 * @typedef {Pick<import("../wire.js").Replay, "passes">} Replay
 */

/** The graph on screen: rows of the replay's tables, and rows whose text has changed. */
class Snapshot {
  constructor() {
    /** @type {Set<number>} */
    this.nodes = new Set();
    /** @type {Set<number>} */
    this.edges = new Set();
    /** @type {Map<number, import("../wire.js").NodeRow>} */
    this.rows = new Map();
  }

  /** @param {Delta} delta */
  play(delta) {
    (delta["n-"] || []).forEach((node) => this.nodes.delete(node));
    (delta["e-"] || []).forEach((edge) => this.edges.delete(edge));
    (delta["n+"] || []).forEach((node) => this.nodes.add(node));
    (delta["e+"] || []).forEach((edge) => this.edges.add(edge));
    (delta.set || []).forEach(([node, row]) => this.rows.set(node, row));
  }

  copy() {
    const copy = new Snapshot();
    copy.nodes = new Set(this.nodes);
    copy.edges = new Set(this.edges);
    copy.rows = new Map(this.rows);
    return copy;
  }
}

/**
 * The snapshot of pass number `pass` after `step` of its rewrites.
 * @param {Replay} replay @param {number} pass @param {number} step
 */
export function snapshotAt(replay, pass, step) {
  const snapshot = new Snapshot();
  for (let index = 0; index < pass; index++) {
    snapshot.play(replay.passes[index].start);
    replay.passes[index].steps.forEach((delta) => snapshot.play(delta));
  }
  snapshot.play(replay.passes[pass].start);
  replay.passes[pass].steps.slice(0, step).forEach((delta) => snapshot.play(delta));
  return snapshot;
}

/** @param {Set<number>} left @param {Set<number>} right */
const minus = (left, right) => new Set([...left].filter((it) => !right.has(it)));

/**
 * The snapshot to draw, with the nodes added and removed. Step 0 is before the first rewrite, step
 * n after the n-th; step -1 is the whole pass: its last snapshot compared with its first.
 * @param {Replay} replay @param {number} pass @param {number} step
 */
export function stepOf(replay, pass, step) {
  const last = replay.passes[pass].steps.length;
  const to = snapshotAt(replay, pass, step < 0 ? last : step);
  const from = step === 0 ? to : snapshotAt(replay, pass, step < 0 ? 0 : step - 1);
  const changed = [...to.rows].filter(([node, row]) => from.rows.get(node) !== row);
  return {
    snapshot: to,
    layout: replay.passes[pass].layout,
    added: minus(to.nodes, from.nodes),
    removed: minus(from.nodes, to.nodes),
    addedEdges: minus(to.edges, from.edges),
    removedEdges: minus(from.edges, to.edges),
    changed: new Set(changed.map(([node]) => node).filter((node) => from.nodes.has(node))),
  };
}

/**
 * All nodes and edges that are on screen in the passes which share a layout, in their order.
 * @param {Replay} replay @param {number} layout
 */
export function unionOf(replay, layout) {
  const snapshot = new Snapshot();
  /** @type {Set<number>} */
  const nodes = new Set();
  /** @type {Set<number>} */
  const edges = new Set();
  for (const pass of replay.passes) {
    [pass.start, ...pass.steps].forEach((delta, step) => {
      snapshot.play(delta);
      if (pass.layout !== layout) return;
      (step ? delta["n+"] || [] : snapshot.nodes).forEach((node) => nodes.add(node));
      (step ? delta["e+"] || [] : snapshot.edges).forEach((edge) => edges.add(edge));
    });
  }
  const inOrder = (/** @type {number} */ a, /** @type {number} */ b) => a - b;
  return { nodes: [...nodes].sort(inOrder), edges: [...edges].sort(inOrder) };
}
