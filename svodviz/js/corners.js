// Which corner of a pane has no node: there a small picture covers nothing. Pure.

import { touches } from "./geometry.js";

const MARGIN = 10;
// The fourth has the buttons that zoom.
const CORNERS = ["top right", "top left", "bottom left"];

/**
 * The first corner where nothing would be covered; "" where there is none.
 * @param {import("./geometry.js").Box} view what of the drawing is seen: left, top, right, bottom
 * @param {number[]} size width and height of the pane, in pixels
 * @param {number[]} own width and height of what is to stand in the corner, in pixels
 * @param {import("./geometry.js").Box[]} boxes those of the nodes, in the drawing
 * @returns {string}
 */
export function freeCorner(view, size, own, boxes) {
  const scale = (view[2] - view[0]) / size[0];
  const near = boxes.filter((box) => touches(view, box));
  return CORNERS.find((corner) => {
    const left = corner.endsWith("left") ? MARGIN : size[0] - MARGIN - own[0];
    const top = corner.startsWith("top") ? MARGIN : size[1] - MARGIN - own[1];
    const [x, y] = [left * scale + view[0], top * scale + view[1]];
    /** @type {import("./geometry.js").Box} */
    const place = [x, y, x + own[0] * scale, y + own[1] * scale];
    return !near.some((box) => touches(place, box));
  }) ?? "";
}
