// Above the timeline: how items are arranged, zoom, sums, whose critical path and slack are drawn,
// and the button that measures.

import { button, counted, h, nanoseconds } from "../../kit/dom.js";
import { steer } from "./timelinemoves.js";

const WAYS = [["estimated", "by estimate"], ["measured", "by measurement"]];
const ARRANGEMENTS = [
  ["workers", "Workers", "a lane for each worker of the cluster: what it did in the run measured"],
  ["items", "Items", "a row for each item"],
  ["lanes", "Devices", "a lane per device, its items packed"],
  ["cores", "Cores", "a lane for each core: items one after the other, their tasks over the cores"],
];

export class TimelineTools {
  /** @param store @param view the timeline: what is drawn of what, and the steps to change it */
  constructor(store, view) {
    this.store = store;
    this.view = view;
    this.ways = new Map(WAYS.map(([by, words]) => [by, button(
      `Critical path ${words}`, () => view.followPath(by),
      { title: `Draws critical path, slack and arrows ${words}` })]));
    this.choice = h("div", { class: "segmented", role: "group", "aria-label": "Critical path by" },
      ...this.ways.values());
    this.rows = new Map(ARRANGEMENTS.map(([id, words, title]) => [id, button(
      words, () => view.arrangeBy(id), { title: `Rows: ${title}` })]));
    this.arrangement = h("div", { class: "segmented", role: "group", "aria-label": "Rows" },
      ...this.rows.values());
    this.whole = button("All", () => view.fit(), {
      title: "The program from start to end (Space)", "aria-label": "Show all of the time" });
    this.zoom = h("div", { class: "segmented", role: "group", "aria-label": "Zoom" },
      button("−", () => steer(view, "s"), { title: "Zoom out (s)", "aria-label": "Zoom out" }),
      button("+", () => steer(view, "w"), {
        title: "Zoom in (w, or Ctrl and the wheel)", "aria-label": "Zoom in" }), this.whole);
    this.sums = button("Sums", () => view.markWindow(), {
      title: "What the time in view is spent on. For a stretch of it: drag along the axis",
    });
    this.measure = button("Measure", () => store.measured.ask(), {
      title: "Runs the program for about a second; data that it writes in place stay as they are",
    });
    this.dashboard = h("a", { class: "dashboard", target: "_blank", rel: "noopener noreferrer",
      title: "Opens the page of Dask's scheduler in a new tab" }, "Dask's dashboard ↗");
    this.words = h("span", { class: "timeline-words", role: "status" });
    this.root = h("div", { class: "timeline-tools" }, this.arrangement, this.zoom, this.sums,
      this.choice, this.measure, this.words);
  }

  show() {
    const { measured } = this.store;
    const { isKnown, isLive, state } = measured;
    this.rows.forEach((node, id) =>
      node.setAttribute("aria-pressed", String(id === this.view.arrangement)));
    const { workers } = this.view.schedule;
    const { isWorkers } = this.view;
    this.rows.get("workers").hidden = !workers;
    this.whole.disabled = this.view.window.isWhole;
    this.choice.hidden = !isKnown || isWorkers;
    this.sums.hidden = isWorkers;
    // only where it leads somewhere: a page of ours has no other link
    if (workers?.dashboard && isLive) {
      this.dashboard.setAttribute("href", workers.dashboard);
      this.words.before(this.dashboard);
    } else {
      this.dashboard.remove();
    }
    this.ways.forEach((node, by) =>
      node.setAttribute("aria-pressed", String(by === this.view.by)));
    this.measure.hidden = !isLive;
    this.measure.disabled = state === "asking";
    this.measure.textContent = isKnown ? "Measure again" : "Measure";
    const isSaid = measured.isPossible && !isKnown && state !== "none";
    this.words.textContent = isWorkers ? workers.caption : isSaid ? measured.words : "";
  }
}

/** The kind of the times on screen, in words. */
export function timeWords({ hasTimes, isMeasured, store, arrangement, by }) {
  const { measured } = store;
  if (!hasTimes) return "no estimates of time";
  if (arrangement === "cores") {
    return `items one after the other, ${by}; their tasks as the thread pool deals them out where `
      + "all take equally long";
  }
  if (isMeasured) return "bars are placed as if any number of items could run at once";
  return measured.isPossible ? `times are estimates; measured: ${measured.words}`
    : "times are estimates";
}

/** The critical path in figures: by the estimates and, where that is known, as measured. */
export function pathWords(schedule, isMeasured) {
  const lengths = (by) => {
    const path = by === "measured" ? schedule.measuredPath : schedule.path;
    const items = path.map((at) => schedule.items[at]);
    const times = by === "measured" ? items.map((it) => it.run) : items;
    const all = schedule.items.filter((it) => (by === "measured" ? it.run : it)?.critical);
    return [path.length, times.reduce((sum, it) => sum + (it ? it.finish - it.start : 0), 0),
      ties(all.length - path.length)];
  };
  const [items, length, more] = lengths("estimated");
  if (!items) return "";
  const words = `critical path ${counted(items, "item")}${more}, ${nanoseconds(length)}`;
  if (!isMeasured) return words;
  const [others, took, alike] = lengths("measured");
  return `${words} estimated; ${counted(others, "item")}${alike}, ${nanoseconds(took)} measured`;
}

/** Critical items other than those of the path that is drawn. */
const ties = (more) => (more > 0 ? ` (and ${more} on paths as long)` : "");
