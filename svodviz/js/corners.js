// Which corner of a pane has no node: there a small picture covers nothing. Pure.

import { touches } from "./geometry.js";

const MARGIN = 10;
// The fourth has the buttons that zoom.
const CORNERS = ["top right", "top left", "bottom left"];

/**
 * The first corner where nothing would be covered; "" where there is none.
 * @param {number[]} view what of the drawing is seen: left, top, right, bottom
 * @param {number[]} size width and height of the pane, in pixels
 * @param {number[]} own width and height of what is to stand in the corner, in pixels
 * @param {number[][]} boxes those of the nodes, in the drawing
 * @returns {string}
 */
export function freeCorner(view, size, own, boxes) {
  const scale = (view[2] - view[0]) / size[0];
  const near = boxes.filter((box) => touches(view, box));
  return CORNERS.find((corner) => {
    const left = corner.endsWith("left") ? MARGIN : size[0] - MARGIN - own[0];
    const top = corner.startsWith("top") ? MARGIN : size[1] - MARGIN - own[1];
    const place = [left, top, left + own[0], top + own[1]]
      .map((it, index) => it * scale + view[index % 2]);
    return !near.some((box) => touches(place, box));
  }) ?? "";
}
