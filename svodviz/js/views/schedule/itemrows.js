// The timeline with a row for each item: its label, its bars, its slack and its time. A loop is one
// row where it is folded, else a head above its iterations.

import { ratioOf } from "../../data/measured.js";
import { button, counted, h, nanoseconds } from "../../kit/dom.js";
import { barsOf, HEAD } from "./rows.js";
import { labelOf } from "./timelinelabels.js";

const LEAST = 3; // pixels of a bar, however short its time

export class ItemRows {
  /** @param view the timeline, which knows what stands where */
  constructor(view) {
    this.view = view;
    this.schedule = view.schedule;
  }

  row(row) {
    if (row.type === "lane") return this.lane(row);
    if (row.type === "loop") return this.loop(row);
    return this.item(row, this.schedule.items[row.items[0]]);
  }

  lane(row) {
    const { rows, height } = this.view;
    const next = rows.find((it) => it.type === "lane" && it.top > row.top);
    const end = next ? next.top : height - HEAD;
    return h(
      "div", { class: "lane", style: `top:${HEAD + row.top}px;height:${end - row.top}px` },
      h("span", { class: "lane-name" }, row.name),
      h("span", { class: "lane-count" }, counted(row.items.length, "item")),
    );
  }

  loop(row) {
    const { loop, items } = row;
    const { view } = this;
    const isFolded = view.folded.has(loop);
    const iterations = items.map((position) => this.schedule.items[position]);
    const label = labelOf(this.schedule, row);
    const kind = iterations[0].op;
    const measured = iterations.filter((it) => it.run)
      .map((it) => ({ ...it, ...it.run, run: it.run }));
    const seen = (spans) => barsOf(spans.filter((it) => view.window.sees(it)),
      (time) => view.x(time));
    const bars = isFolded ? seen(iterations) : [];
    const runs = isFolded ? seen(measured) : [];
    return h(
      "div", { class: "loop-row", style: `top:${HEAD + row.top}px`, "data-kind": kind },
      button(isFolded ? "▸" : "▾", () => view.fold(loop), {
        class: "fold-button", "aria-expanded": String(!isFolded),
        "aria-label": `${isFolded ? "Unfold" : "Fold"} the loop ${label}`,
      }),
      h("span", { class: "item-label loop-label", style: `width:${view.left - 36}px`,
        title: label }, isFolded && iterations.some((it) => view.when(it).critical)
        && h("span", { class: "loop-sign", title: "critical: no slack" }, "◆ "), `↻ ${label}`),
      ...bars.map((bar) => this.iterationBar(bar, "")),
      ...runs.map((bar) => this.iterationBar(bar, " measured")),
      ...(isFolded ? this.loopTimes(iterations) : []),
    );
  }

  /** The time of all iterations together, behind the last of them. */
  loopTimes(iterations) {
    const sum = (of) => iterations.reduce((total, it) => total + of(it), 0);
    const last = (of) => iterations.reduce((end, it) => Math.max(end, of(it)), 0);
    const cost = sum((it) => it.finish - it.start);
    const took = this.time(0, last((it) => it.finish), nanoseconds(cost), 0, "");
    if (!iterations.every((it) => it.run)) return [took];
    const measured = sum((it) => it.measured);
    const words = `${nanoseconds(measured)}, ${ratioOf({ cost, measured })}`;
    return [took, this.time(0, last((it) => it.run.finish), words, 0, " measured")];
  }

  iterationBar({ start, finish, items }, kind) {
    const place = this.view.place(start, finish, 2);
    const words = (items.length > 1 ? `${counted(items.length, "iteration")} together`
      : `${this.schedule.nameOf(items[0])}, ${nanoseconds(finish - start)}`) + kind;
    const isDrawn = (kind ? "measured" : "estimated") === this.view.by;
    const isCritical = isDrawn && items.some((it) => this.view.when(it).critical);
    return h("span", {
      class: `bar iteration${kind}${isCritical ? " critical" : ""}`, title: words,
      "data-entity": items.length > 1 ? null : items[0].e, style: place.style,
    });
  }

  item(row, item) {
    const { critical } = this.view.when(item);
    const words = this.view.words(item);
    const indent = row.loop === undefined ? "" : " in-loop";
    return h(
      "div",
      {
        class: critical ? "item critical" : "item", "data-entity": item.e,
        "data-kind": item.op, "data-position": item.position,
        style: `top:${HEAD + row.top}px`, role: "img", "aria-label": words, title: words,
      },
      h("span", { class: `item-label${indent}`, style: `width:${this.view.left - 14}px` },
        h("span", { class: "item-sign", "aria-hidden": "true" }, critical ? "◆" : ""),
        labelOf(this.schedule, row)),
      ...this.barOf(item, item, ""),
      ...(item.run ? this.barOf(item, item.run, " measured") : []),
    );
  }

  /** One bar of an item, its slack if that is the one drawn, and its time. */
  barOf(item, when, kind) {
    const { view } = this;
    const { start, finish } = when;
    const slack = when === view.when(item) ? when.slack : 0;
    const place = view.place(start, finish, LEAST);
    const room = slack > 0 ? view.place(finish, finish + slack) : null;
    const took = kind ? `${nanoseconds(item.measured)}, ${ratioOf(item)}`
      : nanoseconds(finish - start);
    return [
      place && h("span", { class: `bar${kind}${place.cut}`, style: place.style }),
      room && h("span", { class: `slack${kind}${room.cut}`, style: room.style },
        room.width > 84 ? h("span", {}, `slack ${nanoseconds(slack)}`) : null),
      this.time(start, finish + slack, took, kind || !place ? 0 : place.width, kind),
    ];
  }

  /** A time, inside its bar where it fits, else behind it; null where that is out of view. */
  time(start, end, took, width, kind) {
    const { view } = this;
    const fits = width > took.length * 7 + 10;
    const left = fits ? Math.max(view.left, view.x(start)) + 6 : view.x(end) + 6;
    if (left < view.left || left > view.left + view.width + 6) return null;
    const place = fits ? "" : " outside";
    return h("span", { class: `item-time${kind}${place}`, style: `left:${left}px` }, took);
  }
}
