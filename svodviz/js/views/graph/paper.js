// The whole drawing of a graph at once, for a picture: on screen stands only what is in view.

import { count, s } from "../../kit/dom.js";
import { edgeCurve, groupFrame, nodeElement } from "./drawing.js";
import { replacementArrow } from "./replaced.js";

const MOST = 3000; // boxes of a picture: more of them no program shows, or prints, well

/**
 * @param view the graph on screen, with its marks
 * @returns {{svg: () => SVGElement, box: import("../../kit/geometry.js").Box, words: string}}
 *   `words` say why there is none
 */
export function paperOf(view) {
  const { nodes, box: [left, top, right, bottom] } = view.picture;
  const words = nodes.length > MOST
    ? `a picture holds ${count(MOST)} boxes, these are ${count(nodes.length)}: fold the graph` : "";
  // Signs stand above boxes, costs below.
  return { svg: () => drawn(view), box: [left, top - 20, right, bottom + 18], words };
}

function drawn(view) {
  const { picture, costs, look, store, replaced } = view;
  const nodeLayer = s("g", {}, ...picture.nodes.map((it) =>
    nodeElement(it, store.model, costs.get(it), look.markWords)));
  const edgeLayer = s("g", {},
    ...picture.edges.map((it) => edgeCurve(it, "", picture.across)),
    ...replaced.map(replacementArrow));
  const numberLayer = s("g", {});
  view.light({ nodeLayer, edgeLayer, numberLayer });
  return s("svg", { class: "graph" },
    s("g", { class: "groups" }, ...picture.groups.map((it) => groupFrame(it))),
    edgeLayer, nodeLayer, numberLayer);
}
