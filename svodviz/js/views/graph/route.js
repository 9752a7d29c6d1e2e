// Paths between two nodes of the drawing: highlighted and in words.

import { pathsBetween } from "../../data/graph/paths.js";
import { count, counted } from "../../kit/dom.js";
import { number } from "./drawing.js";

const COUNTABLE = 1e12; // beyond it the number says nothing any more

/**
 * The paths from the selection to the other end that the state names, or back; null without one.
 * @param {any} store @param {any} picture
 * @returns {{words: string, ends?: any[], paths?: any} | null}
 */
export function routeOf(store, picture) {
  const { path, selected } = store.state;
  if (!path) return null;
  const key = `${selected} ${path}`;
  if (picture.route?.key !== key) picture.route = { key, found: foundIn(store, picture) };
  return picture.route.found;
}

function foundIn({ state, selected, model }, { byEntity, edges }) {
  if (state.path === state.selected) return { words: "paths lead from here to the next selection" };
  const ends = [byEntity.get(selected), byEntity.get(model.entity(state.path))];
  if (ends.some((it) => !it)) return { words: "no path: an end is not in this drawing" };
  if (ends[0] === ends[1]) return { words: "both ends of the path are folded into this one box" };
  const paths = pathsBetween(edges, ends[0], ends[1]);
  if (!paths) return { words: "no path between the two nodes" };
  return { words: wordsOf(paths), ends, paths };
}

/** "3 paths, the shortest of 5 edges" */
function wordsOf({ count: found, shortest }) {
  if (found === 1) return `1 path of ${counted(shortest, "edge")}`;
  const many = found === Infinity ? "infinitely many paths: the graph has a cycle"
    : found > COUNTABLE ? `over ${count(COUNTABLE)} paths` : `${count(found)} paths`;
  return `${many}, the shortest of ${counted(shortest, "edge")}`;
}

/** Lights what is on a path, and dims the rest. */
export function lightRoute({ ends, paths }, nodeLayer, edgeLayer, numberLayer) {
  const isOn = ({ from, to }) => paths.nodes.has(from) && paths.nodes.has(to) && from !== to;
  for (const node of nodeLayer.children) {
    node.classList.remove("related");
    node.classList.toggle("selected", node.node === ends[0]);
    node.classList.toggle("end", node.node === ends[1]);
    node.classList.toggle("near", paths.nodes.has(node.node));
    node.classList.toggle("far", !paths.nodes.has(node.node));
  }
  const lit = [];
  for (const curve of edgeLayer.children) {
    const isLit = Boolean(curve.edge) && isOn(curve.edge);
    for (const name of ["near", "on-path"]) curve.classList.toggle(name, isLit);
    curve.classList.toggle("far", !isLit);
    if (isLit) lit.push(curve.edge);
  }
  numberLayer.replaceChildren(...lit.filter((it) => it.operand >= 0).map(number));
}
