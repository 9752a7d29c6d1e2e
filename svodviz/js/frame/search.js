// The search: the field, the matches in the view, and a list of matches in all stages.

import { sectionsOf } from "../data/hits.js";
import { HINT } from "../data/query.js";
import { button, count, h } from "../kit/dom.js";

const GAP = 4; // pixels between the field and the list
const EDGE = 8; // pixels between the list and the edge of the explorer

export class Search {
  /** @param explorer whose views are searched */
  constructor(explorer) {
    Object.assign(this, { explorer, found: [], at: -1, options: [], chosen: -1 });
    this.list = h("div", { class: "hit-list", role: "listbox", tabindex: "0", hidden: true,
      onkeydown: (event) => this.key(event), onblur: () => this.shut(),
      "aria-label": "Matches in all stages",
      onpointerdown: (event) => event.preventDefault() }); // the field keeps the focus
    this.field = h("input", {
      type: "search", class: "search", placeholder: "Search  /", "aria-label": "Search",
      title: HINT, "aria-autocomplete": "list", autocomplete: "off",
      oninput: () => this.type(), onkeydown: (event) => this.key(event),
      onfocus: () => this.offer(),
      onblur: ({ relatedTarget }) => { if (relatedTarget !== this.list) this.shut(); },
    });
    this.hits = h("span", { class: "hits", "aria-live": "polite" });
    this.next = button("next", (event) => this.step(event.shiftKey ? -1 : 1), {
      class: "next-hit", title: "Next match (Enter), previous match (Shift Enter)",
      "aria-label": "Next match", hidden: true,
    });
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
  }

  get isOpen() {
    return !this.list.hidden;
  }

  type() {
    this.show();
    this.offer();
  }

  /** Marks the matches in the view on screen. */
  show() {
    this.found = this.explorer.view.search(this.text);
    this.at = -1;
    this.hits.textContent = this.text ? `${count(this.found.length)} found` : "";
    this.next.hidden = !this.text || !this.found.length;
    this.explorer.bar.fit();
  }

  focus() {
    this.explorer.bar.reach(this.field);
    this.field.focus();
    this.field.select();
  }

  clear() {
    this.text = "";
    this.shut();
    this.show();
  }

  /** Goes to the next match in the view, or to the one before. */
  step(by) {
    const { found } = this;
    const at = this.at < 0 && by < 0 ? found.length - 1 : (this.at + by + found.length)
      % found.length;
    this.explorer.view.visit(found[at]);
    Object.assign(this, { found, at });
    this.hits.textContent = `${count(at + 1)} of ${count(found.length)}`;
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.choose(this.chosen + steps[event.key]);
    else if (event.key === "Enter") this.enter(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The chosen match of the list; else the next one in the view; else the best of the list. */
  enter(by) {
    if (this.chosen >= 0) this.visit(this.options[this.chosen].hit);
    else if (this.found.length) this.step(by);
    else if (this.options.length) this.visit(this.options[0].hit);
  }

  /** Shows a match of the list in its stage. */
  visit(hit) {
    this.shut();
    this.explorer.visitNamed(hit);
  }

  /** Fills the list with the matches in all stages. */
  offer() {
    const { store } = this.explorer;
    this.options = [];
    this.chosen = -1;
    const sections = sectionsOf(store.model, this.text);
    this.list.replaceChildren(...sections.map((it) => this.section(it, store.model)));
    if (this.text && !sections.length) {
      this.list.replaceChildren(h("p", { class: "hit-none" }, "No match in any stage."));
    }
    if (!this.text) return this.shut();
    this.list.hidden = false;
    for (const it of [this.field, this.list]) it.ariaActiveDescendantElement = null;
    return this.place();
  }

  section({ label, hits, count: all }, model) {
    const more = all - hits.length;
    return h("div", { class: "hit-section", role: "group", "aria-label": label },
      h("div", { class: "hit-heading" }, h("span", {}, label), h("span", {}, count(all))),
      ...hits.map((hit) => this.option(hit, model)),
      more > 0 && h("div", { class: "hit-more" }, `and ${count(more)} more`));
  }

  option(hit, model) {
    const element = h("div", { class: "hit", role: "option", "aria-selected": "false",
      onclick: () => this.visit(hit) },
    h("span", { class: "hit-title" }, hit.title), h("span", { class: "hit-detail" }, hit.detail),
    h("span", { class: "hit-stage" }, model.stageById.get(hit.stage)?.label ?? ""));
    this.options.push({ hit, element });
    return element;
  }

  /** Chooses a match of the list; past an end, none. */
  choose(position) {
    if (!this.isOpen) this.offer();
    const { options } = this;
    this.chosen = position >= options.length ? -1
      : position < -1 ? options.length - 1 : position;
    options.forEach(({ element }, at) =>
      element.setAttribute("aria-selected", String(at === this.chosen)));
    const chosen = options[this.chosen]?.element;
    for (const it of [this.field, this.list]) it.ariaActiveDescendantElement = chosen ?? null;
    chosen?.scrollIntoView({ block: "nearest" });
  }

  /** Below the field, within the explorer. */
  place() {
    const area = this.explorer.root.getBoundingClientRect();
    const field = this.field.getBoundingClientRect();
    const left = field.right - area.left - this.list.offsetWidth;
    const top = field.bottom - area.top + GAP;
    this.list.style.left = `${Math.max(EDGE, left)}px`;
    this.list.style.top = `${top}px`;
    this.list.style.maxHeight = `${Math.max(120, area.height - top - EDGE)}px`;
  }

  shut() {
    this.list.hidden = true;
    this.list.replaceChildren();
    Object.assign(this, { options: [], chosen: -1 });
    for (const it of [this.field, this.list]) it.ariaActiveDescendantElement = null;
  }
}
