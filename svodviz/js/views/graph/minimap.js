// Where the view stands in a graph that is larger than the pane.

import { h } from "../../kit/dom.js";
import { freeCorner, holds } from "../../kit/geometry.js";

const WIDTH = 132;
const HEIGHT = 110;
const REST = 200; // ms without a move after which it looks for a corner where it covers nothing

export class Minimap {
  /** @param {(x: number, y: number) => void} centre moves the view to a point of the drawing */
  constructor(centre) {
    this.canvas = h("canvas", { width: WIDTH * 2, height: HEIGHT * 2 });
    this.frame = h("div", { class: "minimap-view" });
    this.root = h("div", { class: "minimap", "aria-hidden": "true", hidden: true },
      this.canvas, this.frame);
    this.root.addEventListener("pointerdown", (event) => {
      this.isDragged = false;
      event.target.setPointerCapture?.(event.pointerId);
      if (!this.isCovering) this.move(event, centre);
    });
    this.root.addEventListener("pointermove", (event) => {
      this.isDragged ||= event.buttons > 0;
      this.move(event, centre);
    });
    this.root.addEventListener("click", (event) => this.passOn(event));
  }

  move(event, centre) {
    if (!event.buttons) return;
    const area = this.root.getBoundingClientRect();
    centre((event.clientX - area.left) / this.scale + this.picture.box[0],
      (event.clientY - area.top) / this.scale + this.picture.box[1]);
  }

  /** A click on the frame where a node is below: it was meant for the node. */
  passOn(event) {
    if (!this.isCovering || this.isDragged) return;
    const { clientX, clientY } = event;
    const below = this.root.getRootNode().elementsFromPoint(clientX, clientY)
      .find((it) => !this.root.contains(it));
    event.stopPropagation();
    below?.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX, clientY }));
  }

  /** Goes where it covers no node; where there is no such corner, clicks pass through it. */
  settle(picture, view, size) {
    const own = [this.root.offsetWidth, this.root.offsetHeight];
    const corner = freeCorner(view, size, own, picture.nodes.map(({ box }) => box));
    this.root.dataset.corner = corner || "top right";
    this.isCovering = !corner;
    this.root.classList.toggle("covering", this.isCovering);
  }

  draw(picture, view, size) {
    const { box } = picture;
    this.root.hidden = holds(view, box);
    clearTimeout(this.resting);
    if (this.root.hidden) return;
    const [left, top, right, bottom] = box;
    this.scale = Math.min(WIDTH / (right - left), HEIGHT / (bottom - top));
    this.root.style.width = `${Math.max(24, (right - left) * this.scale)}px`;
    this.root.style.height = `${Math.max(24, (bottom - top) * this.scale)}px`;
    const theme = this.root.closest(".svodviz")?.dataset.theme;
    const isNew = this.picture !== picture;
    if (isNew || this.theme !== theme) this.paint(picture);
    Object.assign(this, { picture, theme });
    this.place(view, box);
    if (isNew) this.settle(picture, view, size);
    else this.resting = setTimeout(() => this.settle(picture, view, size), REST);
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
