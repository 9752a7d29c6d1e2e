// The bar above the view: one row. What does not fit there stands in a menu at its end.

import { button, h } from "../kit/dom.js";
import { activeIn } from "../kit/focus.js";
import { rove } from "../kit/roving.js";

const GAP = 6; // pixels between tools; the style sheet says the same

export class ToolBar {
  /**
   * @param {HTMLElement[]} tools in order
   * @param {HTMLElement[]} leaving those that may go into the menu, the first that goes first
   */
  constructor(tools, leaving) {
    this.order = tools;
    this.leaving = leaving;
    this.widths = new Map();
    this.menu = h("div", { class: "more-menu", role: "group", "aria-label": "More tools",
      hidden: true });
    this.more = button("⋯", () => this.open(this.menu.hidden), {
      class: "more-button", "aria-label": "More tools", title: "More tools",
      "aria-expanded": "false", hidden: true,
    });
    this.root = h("div", { class: "tools", role: "toolbar", "aria-label": "Tools" },
      ...tools, this.more, this.menu);
    rove(this.root);
    this.menu.addEventListener("click", ({ target }) => {
      if (target.closest("button")) this.open(false);
    });
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.root.contains(relatedTarget)) this.open(false);
    });
    this.watcher = new ResizeObserver(() => this.fit());
    this.watcher.observe(this.root);
  }

  get isOpen() {
    return !this.menu.hidden;
  }

  open(isOpen) {
    if (isOpen === this.isOpen) return;
    this.menu.hidden = !isOpen;
    this.more.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.menu.querySelector("button, select, input")?.focus();
  }

  /** Moves what does not fit into the menu, and back what fits again. */
  fit() {
    const width = this.root.clientWidth;
    if (!width) return;
    const style = getComputedStyle(this.root);
    const room = width - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const out = this.tooMany(room);
    for (const tool of this.leaving) {
      const isOut = out.has(tool);
      if (isOut !== (tool.parentNode === this.menu)) this.move(tool, isOut);
    }
    this.more.hidden = ![...out].some((it) => !it.hidden);
    if (this.more.hidden) this.open(false);
  }

  /** The tools for which there is no room. */
  tooMany(room) {
    const out = new Set();
    let taken = this.order.reduce((sum, it) => sum + this.widthOf(it), 0) - GAP;
    for (const tool of this.leaving) {
      if (taken <= room) break;
      if (!out.size) taken += this.more.offsetWidth + GAP || 38;
      taken -= this.widthOf(tool);
      out.add(tool);
    }
    return out;
  }

  /** The room that a tool takes in the row with its gap; of one in the menu, as it was. */
  widthOf(tool) {
    if (tool.hidden) return 0;
    if (tool.parentNode === this.root || !this.widths.has(tool)) {
      const least = parseFloat(getComputedStyle(tool).minWidth);
      const width = tool.matches(".search, .spacer") ? least || 0
        : Math.max(tool.offsetWidth, tool.scrollWidth);
      this.widths.set(tool, width + GAP);
    }
    return this.widths.get(tool);
  }

  move(tool, isOut) {
    const isActive = tool.contains(activeIn(tool));
    const later = this.order.slice(this.order.indexOf(tool) + 1);
    const next = later.find((it) => (it.parentNode === this.menu) === isOut);
    if (isOut) this.menu.insertBefore(tool, next ?? null);
    else this.root.insertBefore(tool, next ?? this.more);
    if (!isActive) return;
    this.open(isOut);
    (tool.matches("span") ? tool.firstElementChild : tool)?.focus();
  }

  /** Opens the menu if a tool is in there. */
  reach(tool) {
    if (tool.parentNode === this.menu) this.open(true);
  }

  /** Closes the menu; who was in it is at its button. */
  shut() {
    this.open(false);
    this.more.focus();
  }

  close() {
    this.watcher.disconnect();
  }
}
