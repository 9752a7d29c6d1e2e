// The memory plan as a map: levels to the right, addresses downwards, a rectangle for each buffer,
// and an arrow from what stood in a place to what uses it again.

import { bytes, count, counted, h, s } from "../../kit/dom.js";
import { niceStep } from "./window.js";

const LEFT = 84;
const HEAD = 26;
const LEVEL = 7; // pixels of a level, at least, where many buffers begin and end
const THIN = 5; // boxes that are lower have thin borders: their neighbours stay apart
const OUTSIDE = 22; // height of the row of a buffer outside the arena
// Palette kinds whose inks tell origins apart; the words say the origin too.
const INKS = ["buffer", "elementwise", "reduce", "memory", "cast", "call", "kernel", "movement"];

export class MemoryView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.schedule = store.model.schedule;
    this.plan = this.schedule?.memory.plan;
    this.found = new Set();
    this.body = h("div", { class: "memory-body" });
    this.root = h("div", {
      class: "memory-view", tabindex: "0", role: "group", "aria-label": "Memory map",
      onclick: (event) => store.select(this.entityAt(event)),
      onmouseover: (event) => store.hover(this.entityAt(event)),
      onmouseleave: () => store.hover(-1),
    }, this.body);
    store.onHover(() => { if (this.root.isConnected) this.light(); });
  }

  entityAt(event) {
    const node = event.target.closest?.("[data-entity]");
    return node ? Number(node.dataset.entity) : -1;
  }

  show() {
    this.draw();
  }

  draw() {
    if (!this.plan) {
      this.body.replaceChildren(h("p", { class: "empty" },
        "This schedule has no memory plan: every buffer has memory of its own."));
      return;
    }
    this.origins ??= this.originsOf();
    this.measure();
    const { places } = this.plan;
    this.body.replaceChildren(s(
      "svg", { class: "memory-map", width: this.width, height: this.height },
      this.grid(),
      ...places.map((place) => this.place(place)),
      ...places.flatMap((place) => place.after.flatMap((it) => this.arrow(places[it], place))),
    ));
    this.light();
    this.look.onStatus();
  }

  /** The map, for a picture to take away. */
  paper() {
    return this.plan
      && { svg: () => this.body.firstElementChild, box: [0, 0, this.width, this.height] };
  }

  /** The writers of buffers, each with an ink: [ink, words]. */
  originsOf() {
    const names = [...new Set(this.plan.places.map((it) => this.originOf(it)))];
    return new Map(names.map((name, index) => [name, INKS[index % INKS.length]]));
  }

  originOf({ writer }) {
    return writer < 0 ? "never written" : this.schedule.items[writer].name;
  }

  measure() {
    const { levels, arena, places } = this.plan;
    this.outside = places.filter((it) => it.offset === null);
    const rows = this.outside.length * OUTSIDE + (this.outside.length ? 30 : 0);
    const room = (this.root.clientHeight || 500) - HEAD - rows - 24;
    this.pane = (this.root.clientWidth || 800) - 8;
    // Few buffers need no room for each level: between their ends nothing happens.
    const ends = new Set(places.flatMap((it) => [it.first, it.last + 1])).size;
    this.width = Math.max(360, this.pane, LEFT + Math.min(levels, 3 * ends) * LEVEL + 12);
    this.arenaHeight = arena ? Math.max(180, room) : 0;
    this.height = HEAD + this.arenaHeight + rows + 12;
    this.x = (level) => LEFT + (level / Math.max(1, levels)) * (this.width - LEFT - 14);
    this.y = (address) => HEAD + (address / Math.max(1, arena)) * this.arenaHeight;
  }

  grid() {
    const { levels, arena } = this.plan;
    const step = Math.max(1, Math.ceil(niceStep(levels, Math.floor((this.width - LEFT) / 54))));
    const bottom = this.height - 12;
    const parts = [];
    for (let level = 0; level < levels; level += step) {
      const x = this.x(level);
      parts.push(s("path", { class: "memory-grid", d: `M${x} ${HEAD - 4}V${bottom}` }),
        s("text", { class: "memory-tick level", x: x + 4, y: 15 }, count(level)));
    }
    parts.push(s("text", { class: "memory-tick", x: LEFT - 8, y: 15 }, "level"));
    for (const address of addressTicks(arena)) {
      const y = this.y(address);
      parts.push(s("path", { class: "memory-grid", d: `M${LEFT - 4} ${y}H${this.width - 14}` }),
        s("text", { class: "memory-tick", x: LEFT - 8, y: y + (address ? 4 : 10) },
          bytes(address)));
    }
    if (this.outside.length) {
      const y = HEAD + this.arenaHeight + 22;
      parts.push(s("text", { class: "memory-outside", x: LEFT, y },
        "outside the arena: results and what the caller keeps"));
    }
    return s("g", { "aria-hidden": "true" }, ...parts);
  }

  boxOf(place) {
    const [x, right] = [this.x(place.first), this.x(place.last + 1)];
    const top = place.offset === null
      ? HEAD + this.arenaHeight + 30 + this.outside.indexOf(place) * OUTSIDE
      : this.y(place.offset);
    const bottom = place.offset === null ? top + OUTSIDE - 3 : this.y(place.offset + place.size);
    return { x: x + 1, y: top + 0.5, w: Math.max(2, right - x - 2),
      h: Math.max(3, bottom - top - 1) };
  }

  place(place) {
    const row = this.schedule.buffers[place.buffer];
    const origin = this.originOf(place);
    const { x, y, w, h: high } = this.boxOf(place);
    const words = `${row.name}, ${bytes(place.size)}, levels ${place.first} … ${place.last}, `
      + `written by ${origin}\n${place.reason}`;
    return s(
      "g",
      {
        class: "place", "data-entity": row.e, "data-buffer": place.buffer, role: "img",
        "data-kind": this.origins.get(origin), "aria-label": words,
      },
      s("title", {}, words),
      s("rect", { class: high < THIN ? "place-box thin" : "place-box", x, y, width: w,
        height: high, rx: 2 }),
      ...this.label(place, row.name, origin),
    );
  }

  /** The words in a box: on two lines, on one, or upright where it is narrow and high. */
  label(place, name, origin) {
    const { x, y, w, h: high } = this.boxOf(place);
    const both = [name, `${bytes(place.size)} ← ${origin}`];
    const isUpright = w >= 15 && both[1].length * 7 > w - 6 && high > w;
    const [along, across] = isUpright ? [high, w] : [w, high];
    const short = isUpright ? [`${name}  ${both[1]}`, `${name}  ${bytes(place.size)}`, name]
      : [`${name} ← ${origin}`];
    const fitting = short.find((it) => it.length * 7 < along - 20) ?? short.at(-1);
    const lines = across < 13 ? [] : across >= 30 ? both : [fitting];
    // The label of a box wider than the pane is at the first place in view.
    const middle = x + Math.min(w, this.pane - LEFT) / 2;
    const turn = isUpright ? `rotate(-90 ${middle} ${y + high / 2})` : null;
    return lines.map((line, index) => s("text", {
      class: index ? "place-detail" : "place-name", x: middle, transform: turn,
      y: y + high / 2 + 15 * index - (lines.length - 1) * 7.5,
    }, cut(line, along)));
  }

  /** From where the one ends to where the other begins, at the height that both have; its title
   * is the planner's reason, and a click on it selects what came later. */
  arrow(from, to) {
    const [a, b] = [this.boxOf(from), this.boxOf(to)];
    const [top, bottom] = [Math.max(a.y, b.y), Math.min(a.y + a.h, b.y + b.h)];
    const y = bottom - Math.min(8, (bottom - top) / 2); // below what the boxes say
    const [x1, x2] = [a.x + a.w - Math.min(10, a.w / 3), b.x + Math.min(10, b.w / 3)];
    const head = Math.min(4, (bottom - top) / 2);
    const [old, now] = [from, to].map((it) => this.schedule.buffers[it.buffer]);
    const path = s("path", {
      class: "reuse", d: `M${x1} ${y}H${x2}M${x2 - 6} ${y - head}L${x2} ${y}L${x2 - 6} ${
        y + head}`,
    });
    path.ends = [old.e, now.e];
    const hit = s("path", { class: "reuse-hit", d: `M${x1} ${y}H${x2}`, "data-entity": now.e },
      s("title", {}, `${now.name} reuses the memory of ${old.name}: ${to.reason}`));
    return [path, hit];
  }

  light() {
    if (!this.plan) return;
    const { selected, hovered, model } = this.store;
    const isOurs = this.schedule.bufferOf.has(hovered) || this.schedule.itemOf.has(hovered);
    const focus = isOurs ? hovered : selected;
    const touched = this.schedule.buffersAt(focus);
    const related = model.related(focus);
    const nodes = [...this.body.querySelectorAll(".place")];
    const isNear = (node) => touched.has(Number(node.dataset.buffer))
      || (!touched.size && related.has(Number(node.dataset.entity)));
    const isDim = nodes.some(isNear);
    for (const node of nodes) {
      const entity = Number(node.dataset.entity);
      node.classList.toggle("selected", entity === selected);
      node.classList.toggle("near", isNear(node));
      node.classList.toggle("found", this.found.has(entity));
      node.classList.toggle("far", isDim && !isNear(node));
    }
    for (const path of this.body.querySelectorAll(".reuse")) {
      path.classList.toggle("near", path.ends.includes(focus));
    }
  }

  search(text) {
    const wanted = text.toLowerCase();
    const { places } = this.plan || { places: [] };
    const hits = places.map((it) => this.schedule.buffers[it.buffer])
      .filter((it) => wanted && it.name.toLowerCase().includes(wanted));
    this.found = new Set(hits.map((it) => it.e));
    this.light();
    return hits;
  }

  visit(hit) {
    this.store.select(hit.e);
  }

  fit() {
    this.root.scrollTop = 0;
  }

  status() {
    if (!this.plan) return "no memory plan";
    const { peak, unshared, live, places, left_out: left } = this.plan;
    const share = Math.round(100 * (1 - peak / unshared));
    const saved = peak < unshared
      ? `${share} % less than ${bytes(unshared)} without sharing` : "nothing is shared";
    return [
      counted(places.length, "buffer"),
      left && `${count(left)} smaller ones not drawn`,
      `peak ${bytes(peak)}, ${saved}`,
      `lower bound ${bytes(live)}`,
      "addresses downwards; items of a topological level wait only for earlier levels",
    ].filter(Boolean).join(" · ");
  }

  present() {
    const origins = this.plan ? [...this.origins] : [];
    return {
      kinds: new Set(), marks: new Set(),
      origins: origins.slice(0, INKS.length).map(([name, ink]) => [ink, `made by ${name}`]),
    };
  }
}

/** Round addresses from 0 to the end of the arena: powers of two, a few of them. */
export function addressTicks(arena) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(arena / 6)));
  return Array.from({ length: arena ? Math.floor(arena / step) + 1 : 0 }, (_, n) => n * step);
}

/** The part of a text that fits into `width` pixels. */
function cut(text, width) {
  const most = Math.floor((width - 6) / 7);
  if (text.length <= most) return text;
  return most > 2 ? `${text.slice(0, most - 1)}…` : "";
}
