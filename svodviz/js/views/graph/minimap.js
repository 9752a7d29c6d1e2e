// The position of the view in a graph that is larger than the pane: a strip next to the drawing.

import { h } from "../../kit/dom.js";
import { holds } from "../../kit/geometry.js";

const THICK = 96; // pixels that the strip takes at most
const THIN = 30; // and at least, so that it can be grasped
const COARSEST = 0.22; // scale of the strip, so that it is a map also of a small graph
const LEAST = 460; // pixels of a pane below which a strip would take too much of it

export class Minimap {
  /** @param {(x: number, y: number) => void} centre moves the view to a point of the drawing */
  constructor(centre) {
    this.canvas = h("canvas");
    this.frame = h("div", { class: "minimap-view" });
    this.sheet = h("div", { class: "minimap-sheet" }, this.canvas, this.frame);
    this.root = h("div", { class: "minimap", "aria-hidden": "true", hidden: true }, this.sheet);
    this.root.addEventListener("pointerdown", (event) => {
      this.root.setPointerCapture(event.pointerId);
      this.move(event, centre);
    });
    this.root.addEventListener("pointermove", (event) => this.move(event, centre));
  }

  move(event, centre) {
    if (!event.buttons) return;
    const area = this.sheet.getBoundingClientRect();
    centre((event.clientX - area.left) / this.scale + this.picture.box[0],
      (event.clientY - area.top) / this.scale + this.picture.box[1]);
  }

  /**
   * @param picture
   * @param {import("../../kit/geometry.js").Camera} camera
   * @param {[number, number]} room of the drawing and the strip together
   */
  draw(picture, camera, room) {
    const isAll = holds(camera.view(...room), picture.box);
    this.root.hidden = isAll || room[0] < LEAST;
    if (this.root.hidden) return;
    const theme = this.root.closest(".svodviz")?.dataset.theme;
    const key = `${room} ${theme}`;
    if (this.picture !== picture || this.key !== key) {
      Object.assign(this, { picture, key });
      this.lay(picture.box, room);
      this.paint(picture);
    }
    const { clientWidth, clientHeight } = this.root;
    const isBeside = this.root.dataset.side === "right";
    this.place(camera.view(room[0] - (isBeside ? clientWidth : 0),
      room[1] - (isBeside ? 0 : clientHeight)), picture.box);
  }

  /** Along the side where the drawing goes on. */
  lay([left, top, right, bottom], [width, height]) {
    const [wide, high] = [right - left, bottom - top];
    const isBeside = high / wide > height / width;
    this.scale = Math.min(COARSEST, isBeside ? Math.min(THICK / wide, height / high)
      : Math.min(width / wide, THICK / high));
    this.root.dataset.side = isBeside ? "right" : "below";
    this.root.parentElement.dataset.map = this.root.dataset.side;
    const thick = Math.max(THIN, (isBeside ? wide : high) * this.scale);
    Object.assign(this.root.style, { width: isBeside ? `${thick}px` : "", height: isBeside ? ""
      : `${thick}px` });
    for (const [name, size] of [["width", wide], ["height", high]]) {
      this.sheet.style[name] = `${size * this.scale}px`;
      this.canvas[name] = Math.max(1, size * this.scale * 2);
    }
  }

  place(view, [left, top, right, bottom]) {
    const x = (Math.max(left, view[0]) - left) * this.scale;
    const y = (Math.max(top, view[1]) - top) * this.scale;
    Object.assign(this.frame.style, {
      left: `${x}px`,
      top: `${y}px`,
      width: `${Math.max(4, (Math.min(right, view[2]) - left) * this.scale - x)}px`,
      height: `${Math.max(4, (Math.min(bottom, view[3]) - top) * this.scale - y)}px`,
    });
  }

  paint({ nodes, box }) {
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.root);
    const scale = this.scale * 2;
    for (const { row, x, y, mark } of nodes) {
      const name = mark === "added" || mark === "removed" ? `--${mark}` : `--${row.kind}-border`;
      pen.fillStyle = style.getPropertyValue(name) || "#888";
      pen.fillRect((x - box[0]) * scale, (y - box[1]) * scale,
        Math.max(1.5, row.w * scale), Math.max(1.5, row.h * scale));
    }
  }
}
