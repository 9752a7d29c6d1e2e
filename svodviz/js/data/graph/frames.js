// The frames of passes, replayed from deltas (see frames.py). Pure: no page, no state.

/**
 * @typedef {import("../wire.js").Delta} Delta what comes, what goes, and what now reads differently
 * @typedef {Pick<import("../wire.js").Film, "passes">} Film
 */

/** The frame on screen: which rows of the film's tables, and rows that now read differently. */
class Frame {
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
    const copy = new Frame();
    copy.nodes = new Set(this.nodes);
    copy.edges = new Set(this.edges);
    copy.rows = new Map(this.rows);
    return copy;
  }
}

/**
 * The frame of pass number `shot` after `step` of its rewrites.
 * @param {Film} film @param {number} shot @param {number} step
 */
export function frameAt(film, shot, step) {
  const frame = new Frame();
  for (let index = 0; index < shot; index++) {
    frame.play(film.passes[index].start);
    film.passes[index].steps.forEach((delta) => frame.play(delta));
  }
  frame.play(film.passes[shot].start);
  film.passes[shot].steps.slice(0, step).forEach((delta) => frame.play(delta));
  return frame;
}

/** @param {Set<number>} left @param {Set<number>} right */
const minus = (left, right) => new Set([...left].filter((it) => !right.has(it)));

/**
 * The frame to draw, with what came and went. Step 0 is before the first rewrite, step n after the
 * n-th; step -1 is the whole pass: its last frame compared with its first.
 * @param {Film} film @param {number} shot @param {number} step
 */
export function stepOf(film, shot, step) {
  const last = film.passes[shot].steps.length;
  const to = frameAt(film, shot, step < 0 ? last : step);
  const from = step === 0 ? to : frameAt(film, shot, step < 0 ? 0 : step - 1);
  const changed = [...to.rows].filter(([node, row]) => from.rows.get(node) !== row);
  return {
    frame: to,
    layout: film.passes[shot].layout,
    added: minus(to.nodes, from.nodes),
    removed: minus(from.nodes, to.nodes),
    addedEdges: minus(to.edges, from.edges),
    removedEdges: minus(from.edges, to.edges),
    changed: new Set(changed.map(([node]) => node).filter((node) => from.nodes.has(node))),
  };
}

/**
 * All nodes and edges that are on screen in the passes which share a layout, in their order.
 * @param {Film} film @param {number} layout
 */
export function unionOf(film, layout) {
  const frame = new Frame();
  /** @type {Set<number>} */
  const nodes = new Set();
  /** @type {Set<number>} */
  const edges = new Set();
  for (const pass of film.passes) {
    [pass.start, ...pass.steps].forEach((delta, step) => {
      frame.play(delta);
      if (pass.layout !== layout) return;
      (step ? delta["n+"] || [] : frame.nodes).forEach((node) => nodes.add(node));
      (step ? delta["e+"] || [] : frame.edges).forEach((edge) => edges.add(edge));
    });
  }
  const inOrder = (/** @type {number} */ a, /** @type {number} */ b) => a - b;
  return { nodes: [...nodes].sort(inOrder), edges: [...edges].sort(inOrder) };
}
