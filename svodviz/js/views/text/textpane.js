// One column of printed lines. Only the rows near the visible part are in the page.

import { signOf } from "../../data/changes.js";
import { moduleOf, tracedRows, withHeadings } from "../../data/modules.js";
import { h } from "../../kit/dom.js";
import { languageOf, quotesOf, tokens } from "../../kit/tokens.js";

export const ROW = 19; // pixels; the style sheet says the same
// Up to here every row stays in the page, so the browser's own search finds it: a choice.
const ALL = 1500;
const MARGIN = 60;
const HUES = 6;
/** The changes from the revision before, in words. */
const SIGNS = { "+": "new in this revision", "~": "changed in this revision",
  "−": "lines after this one were removed in this revision" };

export class TextPane {
  /** @param store @param {boolean} follows whether it scrolls to what is hovered elsewhere */
  constructor(store) {
    this.store = store;
    this.rows = [];
    this.drawn = [0, 0];
    this.found = new Set();
    this.body = h("div", { class: "lines", role: "list" });
    this.root = h("div", {
      class: "text-pane", role: "group", tabindex: "0", onscroll: () => this.draw(),
      onmouseover: (event) => this.store.hover(this.entityAt(event)),
      onmouseleave: () => this.store.hover(-1),
      onclick: (event) => this.choose(event),
    }, this.body);
    this.close = store.onHover((entity) => this.light(entity));
  }

  show(id) {
    const { model } = this.store;
    const filter = this.filter(id);
    if (this.id !== id) this.open(id);
    else if (this.filtered !== filter) this.refill();
    else if (this.revision !== model.revision) this.renew();
    this.revision = model.revision;
    this.root.toggleAttribute("data-signed", model.signs.size > 0);
    this.draw();
    this.mark();
  }

  open(id) {
    this.id = id;
    this.root.dataset.text = id;
    this.language = languageOf(id, this.store.model.host);
    this.filtered = this.filter(id);
    this.fill(this.rowsOf(id), this.store.model.stageById.get(id).label);
  }

  /** The filter of lines: the selection that alone is shown, else nothing. */
  filter(id) {
    const { state } = this.store;
    return state.filtered && id !== "modules" ? state.selected : "";
  }

  /** The rows of a text, or those of them that are related to the selection. */
  rowsOf(id) {
    const { model, selected } = this.store;
    if (!this.filtered) return model.text(id);
    const module = moduleOf(model, selected);
    if (module >= 0) return tracedRows(model, id, module);
    const related = model.related(selected);
    return withHeadings(model.text(id), (row) => !row.heading && related.has(row.entity));
  }

  /** Takes the rows that are to be shown now. */
  refill() {
    this.open(this.id);
    this.revealSelection();
  }

  /** Takes the rows as they have become; lines that stay, stay where they are. */
  renew() {
    const { scrollTop } = this.root;
    const isFirst = this.rows.every((row) => row.heading);
    this.open(this.id);
    if (!isFirst) this.root.scrollTop = scrollTop;
  }

  /** The text that is shown, and its first line. */
  get place() {
    return { stage: this.id, top: this.root.scrollTop };
  }

  /** Opens at the place of a text of another revision. */
  resume(place) {
    this.resumed = place;
  }

  /** Takes other rows, and opens at the first that is worth a look. */
  fill(rows, label) {
    this.rows = rows;
    this.quotes = quotesOf(rows.map((row) => row.text), this.language);
    this.found = new Set();
    const widest = rows.reduce((most, row) => Math.max(most, row.text.length), 0);
    this.body.style.height = `${rows.length * ROW}px`;
    this.body.style.minWidth = `${widest + 14}ch`;
    this.root.setAttribute("aria-label", label);
    this.root.dataset.language = this.language; // what the words of its lines are words of
    this.drawn = [0, 0];
    this.body.replaceChildren();
    const { resumed } = this;
    this.resumed = null;
    this.root.scrollTop = resumed?.stage && resumed.stage === this.id ? resumed.top
      : this.firstLine() * ROW;
  }

  /** The line to open at: the first, unless nothing that leads anywhere is in view there. */
  firstLine() {
    const linked = this.rows.findIndex((row) => this.store.model.isLinked(row.entity));
    const fits = Math.floor((this.root.clientHeight || 400) / ROW);
    return linked < fits - 2 ? 0 : linked - 3;
  }

  entityAt(event) {
    const node = event.target.closest?.(".line");
    return node ? Number(node.dataset.entity) : -1;
  }

  choose(event) {
    const entity = this.entityAt(event);
    const isAgain = entity >= 0 && entity === this.store.selected;
    if (!String(window.getSelection?.() || "")) this.store.select(isAgain ? -1 : entity);
  }

  /** Puts the rows near the visible part into the page. */
  draw() {
    const first = Math.min(this.rows.length, Math.floor(this.root.scrollTop / ROW));
    const last = Math.min(this.rows.length, first + Math.ceil(this.root.clientHeight / ROW));
    const [had, until] = this.drawn;
    if (until && had <= first && last <= until) return;
    const isAll = this.rows.length <= ALL;
    const from = isAll ? 0 : Math.max(0, first - MARGIN);
    const to = isAll ? this.rows.length : Math.min(this.rows.length, last + MARGIN);
    this.drawn = [from, to];
    const lines = [];
    for (let index = from; index < to; index++) lines.push(this.line(index));
    this.body.replaceChildren(...lines);
    this.mark();
  }

  line(index) {
    const row = this.rows[index];
    const style = `top:${index * ROW}px`;
    if (row.heading) return h("div", { class: "heading", style, role: "listitem" }, row.text);
    const isLinked = this.store.model.isLinked(row.entity);
    const origins = this.id === "source" ? [] : this.store.model.origins(row.entity);
    const sign = signOf(this.store.model.signs, this.id, row);
    return h(
      "div",
      {
        class: isLinked ? "line linked" : "line", style, role: "listitem",
        title: row.alone ? `not linked: ${row.alone}` : null,
        "data-entity": row.entity, "data-index": index, "data-sign": sign || null,
      },
      sign && h("span", { class: "sign", title: SIGNS[sign], role: "img",
        "aria-label": SIGNS[sign] }, sign),
      h("span", { class: "number" }, String(row.number)),
      this.origin(origins),
      h("code", {}, ...tokens(row.text, this.language, this.quotes[index]).map(([text, kind]) =>
        (kind ? h("span", { class: `t-${kind}` }, text) : text))),
    );
  }

  /** The program lines that a line comes from: their numbers, with a hue that helps the eye. */
  origin(lines) {
    if (this.id === "source") return null;
    const text = lines.length > 2 ? `${lines[0]}…${lines[lines.length - 1]}` : lines.join(",");
    const title = lines.length ? `from line ${lines.join(", ")} of the program` : null;
    const hue = lines.length ? lines[0] % HUES : null;
    return h("span", { class: "origin", title, "data-hue": hue }, text);
  }

  /** Marks what is selected, and what is related to it. */
  mark() {
    const { selected, model } = this.store;
    const related = model.related(selected);
    const isOther = this.id === "source" && selected >= 0 && model.stageOf(selected) !== "source";
    const own = new Set(isOther ? model.origins(selected) : []);
    for (const node of this.body.children) {
      const entity = Number(node.dataset.entity ?? -1);
      const isCaller = isOther && related.has(entity) && !own.has(this.lineNumber(entity));
      node.classList.toggle("caller", isCaller);
      node.classList.toggle("selected", entity >= 0 && entity === selected);
      node.classList.toggle("related", entity !== selected && related.has(entity));
      node.classList.toggle("found", this.found.has(Number(node.dataset.index ?? -1)));
      if (entity >= 0 && entity === selected) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
  }

  /** The number of a line of the program, as its entity has it. */
  lineNumber(entity) {
    return Number(this.store.model.entities[entity].split(":")[1]);
  }

  /** Lights what is related to the hovered entity, and brings it into view elsewhere. */
  light(entity) {
    if (!this.root.isConnected) return;
    const related = this.store.model.related(entity);
    for (const node of this.body.children) {
      node.classList.toggle("highlighted", related.has(Number(node.dataset.entity ?? -1)));
    }
    if (entity >= 0 && !this.root.matches(":hover")) this.reveal(related);
  }

  /** Scrolls to the selected line, else to the middle one of those related to it. */
  revealSelection() {
    const { selected, model } = this.store;
    if (selected < 0) return;
    const isHere = this.rows.some((row) => row.entity === selected);
    this.reveal(isHere ? new Set([selected]) : model.related(selected));
  }

  /** Scrolls to the middle one of the matching lines, unless it is in view already. */
  reveal(entities) {
    const matches = this.rows.flatMap((row, index) => (entities.has(row.entity) ? [index] : []));
    if (matches.length) this.scrollTo(matches[Math.floor(matches.length / 2)]);
  }

  scrollTo(index) {
    const { scrollTop, clientHeight } = this.root;
    const top = index * ROW;
    if (top >= scrollTop && top + ROW <= scrollTop + clientHeight) return;
    this.root.scrollTop = Math.max(0, top - clientHeight / 2);
    this.draw();
  }

  /** Marks the lines that contain `text`; returns their positions. */
  search(text) {
    const wanted = text.toLowerCase();
    const hits = this.rows.flatMap((row, index) =>
      (wanted && row.text.toLowerCase().includes(wanted) ? [index] : []));
    this.found = new Set(hits);
    this.mark();
    return hits;
  }
}
