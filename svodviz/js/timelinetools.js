// Above the timeline: whose critical path and slack are drawn, and the button that measures.

import { button, h } from "./dom.js";

const WAYS = [["estimated", "Path by estimate"], ["measured", "Path by measurement"]];

export class TimelineTools {
  /** @param store @param view the timeline: `by`, and `followPath` to change it */
  constructor(store, view) {
    this.store = store;
    this.view = view;
    this.ways = new Map(WAYS.map(([by, words]) => [by, button(words, () => view.followPath(by), {
      title: `Critical path, slack and arrows ${words.slice(5)}`,
    })]));
    this.choice = h("div", { class: "segmented", role: "group", "aria-label": "Critical path by" },
      ...this.ways.values());
    this.measure = button("Measure", () => store.measured.ask(), {
      title: "Runs the program for about a second; data that it writes in place stay as they are",
    });
    this.words = h("span", { class: "timeline-words", role: "status" });
    this.root = h("div", { class: "timeline-tools" }, this.choice, this.measure, this.words);
  }

  show() {
    const { measured } = this.store;
    const { isKnown, isLive, state } = measured;
    this.choice.hidden = !isKnown;
    this.ways.forEach((node, by) =>
      node.setAttribute("aria-pressed", String(by === this.view.by)));
    this.measure.hidden = !isLive;
    this.measure.disabled = state === "asking";
    this.measure.textContent = isKnown ? "Measure again" : "Measure";
    const isSaid = !isKnown && state !== "none";
    this.words.textContent = isSaid ? measured.words : "";
    this.root.hidden = !measured.isPossible || (!isKnown && !isLive && !isSaid);
  }
}
