// Lanes of workers: what each did in the run that was measured, on one axis of time; hatched where
// it waited, and what for. Data that came from other workers stand in a strip under that.

import { bytes, count, counted, h, nanoseconds } from "../../kit/dom.js";
import { percent } from "../../kit/words.js";
import { KINDS } from "../../data/lanes.js";
import { HEAD } from "./rows.js";
import { blocksInView, MOST_BLOCKS, TRACK } from "./tracks.js";
import { STRIP } from "./workertracks.js";

const LETTER = 6.7; // pixels
const LEAST_NAME = 30; // pixels of a box that has room for part of a name
const EDGES = 16; // pixels of a box that are no room for its name
const LEAST_WAIT = 3; // pixels of a wait that is drawn

export class WorkerRows {
  /** @param view the timeline, which knows what stands where */
  constructor(view) {
    this.view = view;
    this.drawn = 0;
  }

  get data() {
    return this.view.schedule.workers;
  }

  /** The elements of these rows. */
  draw(rows) {
    const tracks = rows.filter((row) => row.type !== "lane");
    const found = blocksInView(this.view, tracks);
    const lanes = new Set(rows.map((row) => row.lane));
    this.drawn = found.reduce((sum, blocks) => sum + blocks.length, 0);
    return [
      ...this.view.rows.filter((row) => row.type === "lane" && lanes.has(row.lane))
        .map((row) => this.lane(row)),
      ...this.waits(tracks.filter((row) => row.isFirst)),
      ...tracks.flatMap((row, at) => found[at].flatMap((block, number) =>
        [this.block(row, block), this.label(row, block, found[at][number + 1])])),
    ];
  }

  lane(row) {
    const { rows, height, left } = this.view;
    const next = rows.find((it) => it.type === "lane" && it.top > row.top);
    const end = next ? next.top : height - HEAD;
    const { name, address, busy, waiting } = this.data.lanes[row.lane];
    const share = (time) => percent(Math.min(1, time / Math.max(1, this.data.ns)));
    const words = `${name}, ${address}: busy ${nanoseconds(busy)}, ${share(busy)} of the run`
      + (waiting ? `; waits ${nanoseconds(waiting)}, ${share(waiting)}` : "");
    return h(
      "div", { class: "lane packed worker", role: "group", "aria-label": words,
        style: `top:${HEAD + row.top}px;height:${end - row.top}px` },
      h("span", { class: "lane-name", title: words, style: `width:${left - 16}px` }, name),
      h("span", { class: "lane-busy", title: words, style: `width:${left - 16}px` },
        `${share(busy)} busy`),
    );
  }

  /** The waits of these lanes that can be seen, the longest. */
  waits(rows) {
    const { view } = this;
    const tops = new Map(rows.map((row) => [row.lane, row.top]));
    const { from, length } = view.window;
    const least = (LEAST_WAIT / view.width) * length;
    const seen = this.data.waits.filter((it) => tops.has(it.lane) && it.finish >= from
      && it.start <= from + length && it.finish - it.start >= least);
    seen.sort((a, b) => (b.finish - b.start) - (a.finish - a.start));
    return seen.slice(0, MOST_BLOCKS).map((it) => this.wait(it, tops.get(it.lane)));
  }

  wait(wait, top) {
    const { view } = this;
    const place = view.place(wait.start, wait.finish);
    if (!place) return null;
    const words = this.data.waitWords(wait);
    const entity = this.entity(this.data.bars[wait.next]);
    const label = [`waits: ${wait.words}`, "waits"]
      .find((it) => it.length * LETTER <= place.width - 14);
    const ready = wait.ready > wait.start && wait.ready < wait.finish
      ? view.x(wait.ready) - view.x(Math.max(wait.start, view.window.from)) : 0;
    return h("div", {
      class: `wait${place.cut}`, role: "img", "aria-label": words, title: words,
      "data-entity": entity < 0 ? null : entity,
      style: `top:${HEAD + top + 3}px;height:${TRACK - 6}px;${place.style}`,
    },
    ready > 1 && ready < place.width
      ? h("i", { class: "ready", style: `left:${ready}px`, "aria-hidden": "true" }) : null,
    label ? h("span", {}, label) : null);
  }

  block(row, block) {
    const bars = block.spans.map((it) => this.data.bars[it.item]);
    return bars.length > 1 ? this.together(row, block, bars) : this.single(row, bars[0]);
  }

  single(row, bar) {
    const place = this.view.place(bar.start, bar.finish, 2);
    if (!place) return null;
    const ways = row.type === "strip" ? this.transferWays(bar) : this.ways(bar);
    const text = this.fitting(ways, place.width - EDGES);
    return this.box(row, [bar], place, this.data.words(bar), text);
  }

  /** The size of a transfer, to the right of a bar that is too narrow for it, if there is room. */
  label(row, { left, right, spans }, next) {
    if (row.type !== "strip" || spans.length > 1) return null;
    const bar = this.data.bars[spans[0].item];
    const width = Math.max(right - left, 2);
    const words = bytes(bar.bytes);
    const needed = words.length * LETTER + 10;
    const end = next ? next.left : this.view.left + this.view.width;
    const isThere = this.fitting(this.transferWays(bar), width - EDGES)
      || left + width < this.view.left || left + width + needed > end;
    return bar.bytes && !isThere ? h("span", { class: "strip-bytes", "aria-hidden": "true",
      style: `top:${HEAD + row.top + 1}px;left:${left + width + 5}px` }, words) : null;
  }

  /** "◆ k0  9.1 ms", shorter where it does not fit. */
  ways({ name, kind, critical, start, finish }) {
    const sign = critical ? "◆ " : "";
    const verbs = { compile: "compiles ", send: "sends ", submit: "gives ", gather: "fetches " };
    const called = `${verbs[kind] ?? ""}${name}`;
    return [`${sign}${called}  ${nanoseconds(finish - start)}`, sign + called, called];
  }

  /** "◆ 1 MiB from DASK:1", shorter where it does not fit. */
  transferWays({ source, name, bytes: size, critical }) {
    const sign = critical ? "◆ " : "";
    const from = source < 0 ? "" : ` from ${this.data.lanes[source].name}`;
    const what = size ? bytes(size) : name;
    return [sign + what + from, sign + what, what];
  }

  /** The first that fits into so many pixels; the start of the last where half of it does. */
  fitting(ways, width) {
    const last = ways[ways.length - 1];
    return ways.find((it) => it.length * LETTER <= width)
      ?? (width < LEAST_NAME || last.length * LETTER > 2 * width ? "" : last);
  }

  /** Bars too narrow to distinguish at this zoom, as one box that says how many they are. */
  together(row, { left, right }, bars) {
    const place = this.view.cut(left, Math.max(right, left + 3));
    if (!place) return null;
    const time = bars.reduce((sum, it) => sum + it.finish - it.start, 0);
    const longest = bars.reduce((a, b) => (b.finish - b.start > a.finish - a.start ? b : a));
    const words = `${counted(bars.length, "bar")} together, ${nanoseconds(time)}; the longest: ${
      this.data.words(longest)}. Zoom in to tell them apart`;
    const label = `×${count(bars.length)}`;
    const text = label.length * LETTER + 4 < place.width ? label : "";
    const box = this.box(row, bars, place, words, text);
    box.classList.add("together");
    box.removeAttribute("data-entity");
    box.dataset.count = bars.length;
    box.span = [bars[0].start, Math.max(...bars.map((it) => it.finish))];
    return box;
  }

  box(row, bars, place, words, text) {
    const isCritical = bars.some((it) => it.critical);
    const isStrip = row.type === "strip";
    const height = isStrip ? STRIP - 6 : TRACK - 6;
    const entity = this.entity(bars[0]);
    const box = h("div", {
      class: `piece ${isStrip ? "strip" : "doing"}${isCritical ? " critical" : ""}${place.cut}`,
      "data-kind": KINDS[bars[0].kind], "data-does": bars[0].kind,
      "data-entity": entity < 0 ? null : entity, role: "img", "aria-label": words, title: words,
      style: `top:${HEAD + row.top + (isStrip ? 1 : 3)}px;height:${height}px;${place.style}`,
    }, text);
    box.entities = bars.map((it) => this.entity(it)).filter((it) => it >= 0);
    return box;
  }

  /** The entity of a bar's item; -1 where it is of none. */
  entity({ item }) {
    return this.view.schedule.items[item]?.e ?? -1;
  }
}
