// The whole drawing of a graph at once, for a picture: on screen stands only what is in view.

import { count, s } from "../../kit/dom.js";
import { edgeCurve, groupFrame, nodeElement } from "./drawing.js";
import { replacementArrow } from "./replaced.js";

const MOST = 3000; // boxes of a picture: more of them no program shows, or prints, well

/**
 * @param view the graph on screen, with its marks
 * @returns {{svg?: SVGElement, box?: import("../../kit/geometry.js").Box, words?: string}}
 */
export function paperOf(view) {
  const { picture, costs, look, store, replaced } = view;
  if (picture.nodes.length > MOST) {
    return { words: `a picture holds ${count(MOST)} boxes, these are ${
      count(picture.nodes.length)}: fold the graph` };
  }
  const nodeLayer = s("g", {}, ...picture.nodes.map((it) =>
    nodeElement(it, store.model, costs.get(it), look.markWords)));
  const edgeLayer = s("g", {}, ...picture.edges.map((it) => edgeCurve(it, "", picture.across)),
    ...replaced.map(replacementArrow));
  const numberLayer = s("g", {});
  view.light({ nodeLayer, edgeLayer, numberLayer });
  const svg = s("svg", { class: "graph" },
    s("g", { class: "groups" }, ...picture.groups.map((it) => groupFrame(it))),
    edgeLayer, nodeLayer, numberLayer);
  const [left, top, right, bottom] = picture.box;
  return { svg, box: [left, top - 20, right, bottom + 18] }; // signs above, costs below
}
