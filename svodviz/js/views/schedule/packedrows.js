// The timeline packed: a lane for each device, or each core, with its items packed. An
// item has a box with its name where that fits; items too narrow to distinguish are one block.
//
// Boxes are elements of the page, not strokes on a canvas: each has its name for screen readers,
// its title, the palette's colours in light and dark, and prints. What is drawn is bounded by the
// size of the view, not by the number of items, and so is the time to draw it.

import { count, counted, h, nanoseconds } from "../../kit/dom.js";
import { HEAD } from "./rows.js";
import { blocksInView, TRACK } from "./tracks.js";

const LETTER = 6.7; // pixels
const LEAST_NAME = 30; // pixels of a box that has room for part of a name

export class PackedRows {
  /** @param view the timeline, which knows what stands where */
  constructor(view) {
    this.view = view;
    this.schedule = view.schedule;
    this.drawn = 0;
    this.blocksInView = [];
  }

  /** The elements of these rows; `drawn` is how many bars there are. */
  draw(rows) {
    const tracks = rows.filter((row) => row.type === "track");
    const found = blocksInView(this.view, tracks);
    this.drawn = found.reduce((sum, blocks) => sum + blocks.length, 0);
    this.blocksInView = found;
    const lanes = new Set(rows.map((row) => row.lane));
    return [
      ...this.view.rows.filter((row) => row.type === "lane" && lanes.has(row.lane))
        .map((row) => this.lane(row)),
      ...tracks.flatMap((row, number) => found[number].flatMap((it) => this.block(row, it))),
    ];
  }

  /** The number of items that the bars stand for. */
  get items() {
    const spans = this.blocksInView.flat().flatMap((it) => it.spans);
    return new Set(spans.map((it) => it.item)).size;
  }

  lane(row) {
    const { rows, height } = this.view;
    const next = rows.find((it) => it.type === "lane" && it.top > row.top);
    const end = next ? next.top : height - HEAD;
    const words = `${row.name}: ${counted(row.items.length, "item")}`;
    return h(
      "div", { class: "lane packed", title: words,
        style: `top:${HEAD + row.top}px;height:${end - row.top}px` },
      h("span", { class: "lane-name", style: `width:${this.view.left - 16}px` }, row.name),
    );
  }

  block(row, block) {
    return block.spans.length > 1 ? [this.together(row, block)] : this.single(row, block.spans[0]);
  }

  single(row, span) {
    const { view } = this;
    const item = this.schedule.items[span.item];
    const place = view.place(span.start, span.finish, 2);
    const { critical } = view.when(item);
    const room = span.slack > 0 ? view.place(span.finish, span.finish + span.slack) : null;
    const words = [view.words(item), span.share].filter(Boolean).join(", ");
    const top = `top:${HEAD + row.top + 3}px;`;
    return [
      place && this.piece([item], item.op, critical, place, top, words,
        this.name(item, span, place.width, critical)),
      room && h("span", { class: `slack packed${room.cut}`, style: top + room.style },
        room.width > 84 ? h("span", {}, `slack ${nanoseconds(span.slack)}`) : null),
    ];
  }

  /** "◆ k0  9.1 µs", as much of it as fits. */
  name(item, span, width, critical) {
    const sign = critical ? "◆ " : "";
    const name = item.op === "kernel" ? this.schedule.nameOf(item).replace(/^kernel /, "")
      : this.schedule.nameOf(item);
    const ways = [`${sign}${name}  ${nanoseconds(span.finish - span.start)}`, sign + name, name];
    return ways.find((it) => it.length * LETTER + 10 <= width)
      ?? (width < LEAST_NAME ? "" : sign + name);
  }

  /** Items too narrow to distinguish at this zoom, as one box that says how many they are. */
  together(row, { left, right, spans }) {
    const { view } = this;
    const items = spans.map((it) => this.schedule.items[it.item]);
    const time = spans.reduce((sum, it) => sum + it.finish - it.start, 0);
    const longest = spans.reduce((a, b) => (b.finish - b.start > a.finish - a.start ? b : a));
    const words = `${counted(items.length, "item")} together, ${nanoseconds(time)}; the longest: `
      + `${this.schedule.nameOf(this.schedule.items[longest.item])}, ${
        nanoseconds(longest.finish - longest.start)}. Zoom in to tell them apart`;
    const place = view.cut(left, Math.max(right, left + 3));
    if (!place) return null;
    const label = `×${count(items.length)}`;
    const fits = label.length * LETTER + 4 < place.width;
    const piece = this.piece(items, items[0].op, items.some((it) => view.when(it).critical), place,
      `top:${HEAD + row.top + 3}px;`, words, fits ? label : "");
    piece.classList.add("together");
    piece.removeAttribute("data-entity");
    piece.dataset.count = items.length;
    piece.span = [spans[0].start, spans[spans.length - 1].finish];
    return piece;
  }

  piece(items, kind, isCritical, place, top, words, text) {
    const piece = h("div", {
      class: `piece${isCritical ? " critical" : ""}${place.cut}`, "data-kind": kind,
      "data-entity": items[0].e, role: "img", "aria-label": words, title: words,
      style: `${top}height:${TRACK - 6}px;${place.style}`,
    }, text);
    piece.entities = items.map((it) => it.e);
    return piece;
  }
}
