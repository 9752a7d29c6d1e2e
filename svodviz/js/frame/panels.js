// The panels at the sides: opened, closed, and resized by pointer and keys.

import { PANELS, SMALLEST } from "../data/room.js";
import { h } from "../kit/dom.js";
import { followPress } from "../kit/pointer.js";
import { arrangement } from "./arrangement.js";

const STEP = 16; // pixels for a press of an arrow key
const MOST = 0.45; // of the explorer: the centre keeps its place; the style sheet says so too
const ASSUMED = 1400; // pixels, while the explorer is not in the page yet
const OPPOSITE = { ArrowUp: "ArrowDown", ArrowRight: "ArrowLeft", ArrowLeft: "ArrowRight" };
const WORDS = { passes: "Size of the list of passes", inspector: "Size of the inspector" };

export class Panels {
  /**
   * @param store
   * @param {HTMLElement} root of the explorer
   * @param {{passes: {root: HTMLElement, toggle: HTMLElement},
   *   inspector: {root: HTMLElement, toggle: HTMLElement}}} sides
   */
  constructor(store, root, sides) {
    Object.assign(this, { store, root, sides, edges: {} });
    for (const name of PANELS) {
      sides[name].toggle.addEventListener("click", () => this.open(name, !this.isOpen(name)));
      this.edges[name] = this.edge(name);
      sides[name].root.after(this.edges[name]);
    }
    this.watcher = new ResizeObserver(() => this.show());
    [root, ...PANELS.map((name) => sides[name].root)].forEach((it) => this.watcher.observe(it));
  }

  /** The present place of each panel. */
  get arrangement() {
    return arrangement(this.root.clientWidth || ASSUMED, this.store.state);
  }

  isOpen(name) {
    return this.arrangement[name] === "open";
  }

  open(name, isOpen) {
    this.store.set({ panels: { ...this.store.state.panels, [name]: isOpen } });
  }

  show() {
    const { passes, inspector, isBelow, isStacked } = this.arrangement;
    const { sizes } = this.store.state;
    Object.assign(this.root.dataset, { passes, inspector });
    this.root.toggleAttribute("data-below", isBelow);
    this.root.toggleAttribute("data-stacked", isStacked);
    for (const name of ["passes", "inspector", "drawer"]) {
      if (sizes[name]) this.root.style.setProperty(`--${name}`, `${sizes[name]}px`);
      else this.root.style.removeProperty(`--${name}`);
    }
    for (const name of PANELS) {
      this.sides[name].toggle.setAttribute("aria-expanded", String(this.isOpen(name)));
      this.tell(name);
    }
  }

  /** Says to screen readers where a separator stands. */
  tell(name) {
    const values = { now: this.sizeOf(name), min: SMALLEST, max: this.largest(name) };
    for (const [word, value] of Object.entries(values)) {
      this.edges[name].setAttribute(`aria-value${word}`, Math.round(value));
    }
    this.edges[name].setAttribute("aria-orientation",
      this.isFlat(name) ? "horizontal" : "vertical");
  }

  /** True if the panel is the drawer below, whose height changes. */
  isFlat(name) {
    return name === "inspector" && this.arrangement.isBelow;
  }

  sizeOf(name) {
    const { offsetWidth, offsetHeight } = this.sides[name].root;
    return this.isFlat(name) ? offsetHeight : offsetWidth;
  }

  largest(name) {
    return MOST * (this.isFlat(name) ? this.root.clientHeight : this.root.clientWidth);
  }

  /** The edge of a panel. */
  edge(name) {
    return h("div", {
      class: "edge-line", role: "separator", tabindex: "0", "data-panel": name,
      "aria-label": WORDS[name],
      title: "Drag, or use the arrow keys; double-click: the initial size",
      onkeydown: (event) => this.key(event, name),
      onpointerdown: (event) => this.press(event, name),
      ondblclick: () => this.resize(name, 0),
    });
  }

  /** Keeps a size; 0 is the one that suits. */
  resize(name, size) {
    const kind = this.isFlat(name) ? "drawer" : name;
    const { [kind]: _, ...others } = this.store.state.sizes;
    const sizes = size ? { ...others, [kind]: this.within(name, size) } : others;
    this.store.set({ sizes });
  }

  within(name, size) {
    return Math.round(Math.max(SMALLEST, Math.min(this.largest(name), size)));
  }

  key(event, name) {
    const larger = this.isFlat(name) ? "ArrowUp" : name === "passes" ? "ArrowRight" : "ArrowLeft";
    const smaller = OPPOSITE[larger];
    const size = this.sizeOf(name);
    const sizes = { [larger]: size + STEP, [smaller]: size - STEP, Home: SMALLEST,
      End: this.largest(name) };
    const isClosing = event.key === "Enter";
    if (!isClosing && sizes[event.key] === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isClosing) {
      this.resize(name, sizes[event.key]);
      return;
    }
    this.open(name, false);
    this.sides[name].toggle.focus();
  }

  /** Follows the pointer until it lets go; a panel made very small closes. */
  press(event, name) {
    const area = this.root.getBoundingClientRect();
    const wanted = ({ clientX, clientY }) => (this.isFlat(name) ? area.bottom - clientY
      : name === "passes" ? clientX - area.left : area.right - clientX);
    const property = `--${this.isFlat(name) ? "drawer" : name}`;
    let size = 0;
    const move = (moved) => {
      size = wanted(moved);
      this.root.style.setProperty(property, `${this.within(name, size)}px`);
    };
    const end = () => {
      if (size && size < SMALLEST / 2) this.open(name, false);
      else if (size) this.resize(name, size);
    };
    followPress(event, move, end);
  }

  close() {
    this.watcher.disconnect();
  }
}
