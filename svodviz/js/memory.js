// The memory plan as a map: levels to the right, addresses downwards, a rectangle for each buffer,
// and an arrow from what stood in a place to what uses it again.

import { bytes, count, counted, h, s } from "./dom.js";

const LEFT = 84;
const HEAD = 26;
const WIDEST_LABEL = 400; // pixels of a wide rectangle in whose middle its label stands
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
    this.width = Math.max(360, (this.root.clientWidth || 800) - 8, LEFT + levels * 7 + 12);
    this.arenaHeight = arena ? Math.max(180, room) : 0;
    this.height = HEAD + this.arenaHeight + rows + 12;
    this.x = (level) => LEFT + (level / Math.max(1, levels)) * (this.width - LEFT - 14);
    this.y = (address) => HEAD + (address / Math.max(1, arena)) * this.arenaHeight;
  }

  grid() {
    const { levels, arena } = this.plan;
    const step = Math.max(1, Math.ceil(levels / Math.floor((this.width - LEFT) / 54)));
    const bottom = this.height - 12;
    const parts = [];
    for (let level = 0; level < levels; level += step) {
      const x = this.x(level);
      parts.push(s("path", { class: "memory-grid", d: `M${x} ${HEAD - 4}V${bottom}` }),
        s("text", { class: "memory-tick level", x: x + 4, y: 15 }, `${level}`));
    }
    parts.push(s("text", { class: "memory-tick", x: LEFT - 8, y: 15 }, "level"));
    for (let part = 0; arena && part <= 4; part += 1) {
      const y = this.y((arena * part) / 4);
      parts.push(s("path", { class: "memory-grid", d: `M${LEFT - 4} ${y}H${this.width - 14}` }),
        s("text", { class: "memory-tick", x: LEFT - 8, y: y + (part ? -3 : 10) },
          bytes(Math.round((arena * part) / 4))));
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
    const lines = high < 13 ? [] : high < 30 ? [`${row.name} ← ${origin}`]
      : [row.name, `${bytes(place.size)} ← ${origin}`];
    const middle = y + high / 2 - (lines.length - 1) * 7.5;
    return s(
      "g",
      {
        class: "place", "data-entity": row.e, "data-buffer": place.buffer, role: "img",
        "data-kind": this.origins.get(origin), "aria-label": words,
      },
      s("title", {}, words),
      s("rect", { class: "place-box", x, y, width: w, height: high, rx: 2 }),
      ...lines.map((line, index) => s("text", {
        class: index ? "place-detail" : "place-name", x: x + Math.min(w, WIDEST_LABEL) / 2,
        y: middle + 15 * index,
      }, cut(line, w))),
    );
  }

  /** From where the one ends to where the other begins, at the height that both have; its title
   * is the planner's reason, and a click on it selects what came later. */
  arrow(from, to) {
    const [a, b] = [this.boxOf(from), this.boxOf(to)];
    const y = (Math.max(a.y, b.y) + Math.min(a.y + a.h, b.y + b.h)) / 2
      + Math.min(12, Math.min(a.h, b.h) / 3);
    const [x1, x2] = [a.x + a.w - Math.min(10, a.w / 3), b.x + Math.min(10, b.w / 3)];
    const [old, now] = [from, to].map((it) => this.schedule.buffers[it.buffer]);
    const path = s("path", {
      class: "reuse", d: `M${x1} ${y}H${x2}M${x2 - 6} ${y - 4}L${x2} ${y}L${x2 - 6} ${y + 4}`,
    });
    path.ends = [old.e, now.e];
    const hit = s("path", { class: "reuse-hit", d: `M${x1} ${y}H${x2}`, "data-entity": now.e },
      s("title", {}, `${now.name} uses the memory of ${old.name} again: ${to.reason}`));
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

/** What of a text fits into `width` pixels. */
function cut(text, width) {
  const most = Math.floor((width - 6) / 7);
  if (text.length <= most) return text;
  return most > 2 ? `${text.slice(0, most - 1)}…` : "";
}
