// Where the view stands in a graph that is larger than the pane.

import { h } from "./dom.js";
import { holds } from "./geometry.js";

const WIDTH = 132;
const HEIGHT = 110;

export class Minimap {
  /** @param {(x: number, y: number) => void} centre moves the view to a point of the drawing */
  constructor(centre) {
    this.canvas = h("canvas", { width: WIDTH * 2, height: HEIGHT * 2 });
    this.frame = h("div", { class: "minimap-view" });
    this.root = h("div", { class: "minimap", "aria-hidden": "true", hidden: true },
      this.canvas, this.frame);
    const move = (event) => {
      if (!event.buttons) return;
      const area = this.root.getBoundingClientRect();
      centre((event.clientX - area.left) / this.scale + this.picture.box[0],
        (event.clientY - area.top) / this.scale + this.picture.box[1]);
    };
    this.root.addEventListener("pointerdown", move);
    this.root.addEventListener("pointermove", move);
  }

  draw(picture, view) {
    const { box } = picture;
    this.root.hidden = holds(view, box);
    if (this.root.hidden) return;
    const [left, top, right, bottom] = box;
    this.scale = Math.min(WIDTH / (right - left), HEIGHT / (bottom - top));
    this.root.style.width = `${Math.max(24, (right - left) * this.scale)}px`;
    this.root.style.height = `${Math.max(24, (bottom - top) * this.scale)}px`;
    const theme = this.root.closest(".svodviz")?.dataset.theme;
    if (this.picture !== picture || this.theme !== theme) this.paint(picture);
    Object.assign(this, { picture, theme });
    this.place(view, box);
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
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (const { row, x, y, mark } of nodes) {
      const name = mark === "added" || mark === "removed" ? `--${mark}` : `--${row.kind}-border`;
      pen.fillStyle = style.getPropertyValue(name) || "#888";
      pen.fillRect((x - box[0]) * scale, (y - box[1]) * scale,
        Math.max(1.5, row.w * scale), Math.max(1.5, row.h * scale));
    }
  }
}
