// The base of views whose rows are entities: a row is pointed at, selected, found.

import { h } from "../../kit/dom.js";
import { percent } from "../../kit/words.js";

/**
 * A table of rows with `data-entity`. The view has `root`; `scroller` is what scrolls, by itself
 * the root.
 */
export class RowsView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.found = new Set();
    this.title = h("h3", {});
    this.words = h("p", { class: "run-words", role: "status" });
  }

  get scroller() {
    return this.root;
  }

  /** The root: a click selects a row, the pointer lights what it is over. */
  made(attributes, ...children) {
    return h("div", {
      ...attributes, tabindex: "0", role: "group",
      onclick: (event) => this.click(event),
      onmouseover: (event) => this.store.hover(this.entityAt(event)),
      onmouseleave: () => this.store.hover(-1),
    }, ...children);
  }

  /** The button that measures says what it would do, and is not there where nothing can be. */
  offer(measure) {
    const { measured } = this.store;
    measure.hidden = !measured.isLive || !measured.isPossible;
    measure.disabled = measured.state === "asking";
    measure.textContent = measured.isKnown ? "Measure again" : "Measure";
  }

  entityAt(event) {
    const row = event.target.closest?.("[data-entity]");
    return row ? Number(row.dataset.entity) : -1;
  }

  click(event) {
    const entity = this.entityAt(event);
    if (entity >= 0 && !event.target.closest(".fold-button")) this.store.select(entity);
  }

  visit(hit) {
    this.store.select(hit.e);
    this.root.querySelector(`[data-entity="${hit.e}"]`)?.scrollIntoView({ block: "nearest" });
  }

  fit() {
    this.scroller.scrollTo(0, 0);
  }
}

/** A cell with a share, 0 … 1, as a bar and in words. */
export function shareCell(share, words = percent(share)) {
  const width = Math.min(100, Math.max(share && 1, 100 * share)); // the least part is seen
  return h("td", { class: "run-share", title: words === percent(share) ? null : percent(share) },
    h("span", { class: "run-track", "aria-hidden": "true" },
      h("span", { class: "run-bar", style: `width:${width}%` })),
    h("span", { class: "run-figure" }, words));
}
