// The schedule on an axis of time that zooms and moves: a row for each item, or items packed into a
// lane for each device or core. Bars stand at the earliest start, slack is a hollow extension up to
// the latest one; dependencies by kind, and the memory curve beneath. In rows of items what was
// measured is a thin dark bar under the estimate's.

import { count, counted, h, nanoseconds } from "../../kit/dom.js";
import { KINDS } from "../../data/lanes.js";
import { ratioOf } from "../../data/measured.js";
import { coresOf } from "./cores.js";
import { MemoryCurve } from "./curve.js";
import { ItemRows } from "./itemrows.js";
import { PackedRows } from "./packedrows.js";
import { foldedAtFirst, HEAD, ROW, rowOfItem, rowsBetween, rowsOf } from "./rows.js";
import { SumsPanel } from "./sumspanel.js";
import { TimelineArrows } from "./timelinearrows.js";
import { labelWidth, laneWidth } from "./timelinelabels.js";
import { listenToMoves, steer } from "./timelinemoves.js";
import { pathWords, TimelineTools, timeWords } from "./timelinetools.js";
import { tracksOf } from "./tracks.js";
import { WorkerArrows } from "./workerarrows.js";
import { WorkerRows } from "./workerrows.js";
import { workerTracks } from "./workertracks.js";
import { ticksOf, TimeWindow } from "./window.js";

const AFTER = 82; // pixels to the right for the words after the last bar
const AFTER_BOTH = 132; // the same where the ratio of both times stands there
const AFTER_PACKED = 16;
const LEAST_LEFT = 84; // pixels to the left of the axis: the curve's figures stand there too
const MOST_ITEM_ROWS = 24; // with more the timeline opens packed: a choice
const CLOSE = 3; // times an item's length is in view when it is approached
const REST = 120; // milliseconds without a move after which the words are made anew

export class TimelineView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.schedule = store.model.schedule;
    this.found = new Set();
    this.critical = false;
    this.by = "estimated";
    this.stretch = null;
    this.arrows = new TimelineArrows(this);
    this.itemRows = new ItemRows(this);
    this.packedRows = new PackedRows(this);
    this.workerArrows = new WorkerArrows(this);
    this.workerRows = new WorkerRows(this);
    this.build();
    listenToMoves(this);
    store.onHover(() => { if (this.root.isConnected) this.light(); });
  }

  build() {
    const { store } = this;
    this.tools = new TimelineTools(store, this);
    this.ruler = h("div", { class: "ruler", title: "Drag to mark a stretch and see its sums" });
    this.drawing = h("div", { class: "timeline-drawing" });
    this.body = h("div", { class: "timeline-body" }, this.ruler, this.drawing);
    this.scroll = h("div", {
      class: "timeline", tabindex: "0", role: "group", "aria-label": "Schedule timeline",
      "aria-keyshortcuts": "w s a d + - , . ArrowLeft ArrowRight", onscroll: () => this.draw(),
    }, this.body);
    this.curve = new MemoryCurve(store);
    this.sums = new SumsPanel(store, this);
    this.root = h("div", {
      class: "timeline-view",
      onclick: (event) => this.click(event),
      onmouseover: (event) => store.hover(this.entityAt(event)),
      onmouseleave: () => store.hover(-1),
    }, this.tools.root, this.scroll, this.sums.root, this.curve.root);
  }

  entityAt(event) {
    const node = event.target.closest?.("[data-entity]");
    return node ? Number(node.dataset.entity) : -1;
  }

  click(event) {
    const together = event.target.closest(".together");
    if (together) this.showWindow(...together.span);
    else if (!event.target.closest("button")) this.store.select(this.entityAt(event));
  }

  show() {
    const { version } = this.store.measured;
    if (!this.rows || this.version !== version) this.read();
    this.version = version;
    this.tools.show();
    this.draw();
    this.reveal();
  }

  read() {
    const { items } = this.schedule;
    this.folded ??= foldedAtFirst(this.schedule);
    this.isMeasured = items.some((it) => it.run);
    if (!this.isMeasured) this.by = "estimated";
    this.hasTimes = items.some((it) => it.finish > it.start);
    this.showWorkers(this.schedule.workers);
    this.arrangement ??= rowsOf(this.schedule, this.folded).length > MOST_ITEM_ROWS
      ? "lanes" : "items";
    this.arrange();
  }

  /** Workers come first as soon as there are any; without them there is no lane of theirs. */
  showWorkers(workers) {
    const isNew = workers && !this.hadWorkers;
    this.hadWorkers = Boolean(workers);
    if (isNew) this.arrangement = "workers";
    else if (!workers && this.isWorkers) this.arrangement = undefined;
  }

  get isWorkers() {
    return this.arrangement === "workers";
  }

  get isPacked() {
    return this.arrangement !== "items";
  }

  /** Arranges items in rows of their own, or in lanes by device or by core. */
  arrangeBy(arrangement) {
    this.arrangement = arrangement;
    this.scroll.scrollTop = 0;
    this.revealed = null;
    this.arrange();
    this.show();
  }

  /** Draws critical path, slack and arrows by the estimates, or as measured. */
  followPath(by) {
    this.by = by;
    this.arrange();
    this.show();
  }

  /** Start and end of an item, by the times that the critical path is drawn by. */
  when(item) {
    return this.schedule.when(item, this.by);
  }

  /** Start and end of an item as drawn: by core, items run one after the other. */
  timeOf(item) {
    if (this.isWorkers) return this.schedule.workers.timeOf(item.position) ?? this.when(item);
    return this.inTurn?.[item.position] ?? this.when(item);
  }

  get after() {
    if (this.isPacked) return AFTER_PACKED;
    return this.isMeasured ? AFTER_BOTH : AFTER;
  }

  arrange() {
    this.filled = "";
    this.inTurn = null;
    this.scroll.classList.toggle("both", this.isMeasured && !this.isPacked);
    this.scroll.dataset.by = this.by;
    this.rows = this.rowsBy[this.arrangement].call(this);
    this.rowOf = rowOfItem(this.rows);
    const last = this.rows[this.rows.length - 1];
    this.height = HEAD + last.top + last.height + 12;
    const widths = this.rows.map((row) => (this.isPacked ? laneWidth(row)
      : labelWidth(this.schedule, row)));
    this.left = Math.min(270, Math.ceil(widths.reduce((a, b) => Math.max(a, b), LEAST_LEFT)));
    this.setEnd(this.inTurn ? this.turnsEnd
      : this.isWorkers ? this.schedule.workers.ns : this.lastEnd());
  }

  get rowsBy() {
    return { items: this.rowsOfItems, lanes: this.rowsOfLanes, cores: this.rowsOfCores,
      workers: () => workerTracks(this.schedule.workers) };
  }

  rowsOfItems() {
    return rowsOf(this.schedule, this.folded);
  }

  rowsOfLanes() {
    const { lanes, items } = this.schedule;
    return tracksOf(lanes, (lane) => items.filter((it) => it.lane === lane).map((it) => {
      const { start, finish, slack } = this.when(it);
      return { item: it.position, start, finish, slack };
    }));
  }

  rowsOfCores() {
    const { items, cores = 1 } = this.schedule;
    const isMeasured = this.by === "measured";
    const { byCore, end } = coresOf(items, cores, (it) =>
      (isMeasured && it.run ? it.measured : it.finish - it.start));
    this.inTurn = byCore[0];
    this.turnsEnd = end;
    const names = byCore.map((_, core) => (core ? `core ${core}` : "core 0, caller"));
    return tracksOf(names, (core) => byCore[core]);
  }

  /** The last end of anything drawn, slack included. */
  lastEnd() {
    const ends = this.schedule.items.flatMap((it) => [it, it.run].filter(Boolean));
    return ends.reduce((end, it) => Math.max(end, it.finish + it.slack), 1);
  }

  /** Keeps the stretch of time in view and the one marked, unless the program is timed anew. */
  setEnd(end) {
    if (this.window?.end === end) return;
    this.window = new TimeWindow(Math.max(1, end));
    this.stretch = null;
  }

  fold(loop) {
    if (!this.folded.delete(loop)) this.folded.add(loop);
    this.arrange();
    this.draw();
  }

  // -- moving ------------------------------------------------------------------------------------

  /** `factor` times as much time as before comes into view; the time `at` stays in its place. */
  zoomBy(factor, at) {
    this.window.zoom(factor, at);
    this.moved();
  }

  /** @param share of the time in view */
  moveBy(share) {
    this.window.move(share * this.window.length);
    this.moved();
  }

  showWindow(from, to) {
    this.window.show(from, to);
    this.moved();
  }

  /** The action of a key of the explorer in this view. */
  steer(key) {
    steer(this, key);
  }

  fit() {
    this.scroll.scrollTop = 0;
    this.window.all();
    this.moved();
  }

  /** One drawing a frame, however many moves there are. */
  moved() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.root.isConnected) this.drawMoving();
    });
  }

  /** The time under the pointer. */
  timeAt(event) {
    const x = event.clientX - this.body.getBoundingClientRect().left;
    const { from, length } = this.window;
    return from + (Math.max(0, Math.min(this.width, x - this.left)) / this.width) * length;
  }

  /** Zooms to the item under the pointer. */
  approach(event) {
    const item = this.schedule.itemOf.get(this.entityAt(event));
    if (!item) return;
    const { start, finish } = this.timeOf(item);
    const around = ((CLOSE - 1) / 2) * (finish - start);
    this.showWindow(start - around, finish + around);
  }

  /** Selects the next item in the schedule's order, or the one before. */
  selectNext(by) {
    const { items, itemOf } = this.schedule;
    const now = itemOf.get(this.store.selected);
    const at = now ? now.position + by : by > 0 ? 0 : items.length - 1;
    if (items[at]) this.store.select(items[at].e);
  }

  // -- a stretch of time -------------------------------------------------------------------------

  markStretch(from, to) {
    if (this.isWorkers) return;
    this.stretch = { from, to };
    this.marked();
  }

  markWindow() {
    this.markStretch(this.window.from, this.window.to);
  }

  /** True if there was one. */
  clearStretch() {
    const wasMarked = Boolean(this.stretch);
    this.stretch = null;
    if (wasMarked) this.marked();
    return wasMarked;
  }

  marked() {
    this.filled = "";
    this.sums.show();
    this.moved();
  }

  zoomToStretch() {
    if (this.stretch) this.showWindow(this.stretch.from, this.stretch.to);
  }

  // -- drawing -----------------------------------------------------------------------------------

  draw(isMoving = false) {
    if (!this.rows) return;
    if (Boolean(this.stretch) === this.sums.root.hidden) this.sums.show();
    const { scrollTop, clientHeight } = this.scroll;
    const [top, bottom] = [scrollTop - HEAD - 200, scrollTop + (clientHeight || 800) + 200];
    this.drawn = rowsBetween(this.rows, top, bottom);
    this.width = Math.max(200, (this.scroll.clientWidth || 800) - this.left - this.after);
    // The curve first: it looks at its room, which is cheap as long as nothing has changed.
    this.curve.root.hidden = this.isWorkers; // it is of items one after the other
    if (!this.isWorkers) this.curve.draw(this.left, this.width, this.itemsInView());
    this.fill();
    this.light();
    this.tools.whole.disabled = this.window.isWhole;
    if (!isMoving) this.look.onStatus();
  }

  /** The words beneath are made anew when the moves are over. */
  drawMoving() {
    this.draw(true);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.root.isConnected && this.look.onStatus(), REST);
  }

  /** Puts the rows in view into the page, unless they are there: what has the focus keeps it. */
  fill() {
    const tops = this.drawn.map((row) => row.top);
    const { from, to } = this.window;
    const filled = [this.left, this.width, this.height, from, to, tops].join(" ");
    if (filled === this.filled) return;
    this.filled = filled;
    this.body.style.height = `${this.height}px`;
    this.arrowsFor = this.focus;
    this.arrowPicture = this.isWorkers ? this.workerArrows.draw()
      : this.arrows.draw(this.drawn, this.arrowsFor);
    this.drawing.replaceChildren(...[
      ...(this.isPacked ? [] : this.drawn.filter((row) => row.type === "lane")
        .map((row) => this.itemRows.row(row))),
      this.axis(), this.arrowPicture,
      ...(this.isPacked ? (this.isWorkers ? this.workerRows : this.packedRows).draw(this.drawn)
        : this.drawn.filter((row) => row.type !== "lane").map((row) => this.itemRows.row(row))),
    ].filter(Boolean));
  }

  x(time) {
    const { from, length } = this.window;
    return this.left + ((time - from) / length) * this.width;
  }

  /** The place of a bar, at least `least` pixels wide; null if none of it is in view. */
  place(start, finish, least = 0) {
    const left = this.x(start);
    return this.cut(left, Math.max(this.x(finish), left + least));
  }

  /** The part in view of what reaches from one pixel to another; `cut` says where it goes on. */
  cut(from, to) {
    const [first, last] = [this.left, this.left + this.width];
    if (to < first || from > last) return null;
    const left = Math.max(from, first);
    const width = Math.max(1, Math.min(to, last) - left);
    const cut = (from < first - 0.5 ? " cut-left" : "") + (to > last + 4 ? " cut-right" : "");
    return { width, cut, style: `left:${left}px;width:${width}px` };
  }

  axis() {
    const end = this.left + this.width + this.after;
    const ticks = ticksOf(this.window, Math.max(2, Math.floor(this.width / 110)));
    this.ruler.replaceChildren(h("span", { class: "axis-title" }, "time"),
      ...ticks.filter(([time, words]) => this.x(time) + 6 + words.length * 7 < end)
        .map(([time, words]) =>
          h("span", { class: "ruler-tick", style: `left:${this.x(time)}px` }, words)));
    const place = this.stretch && this.place(this.stretch.from, this.stretch.to, 1);
    if (place) this.ruler.append(h("span", { class: "ruler-stretch", style: place.style }));
    return h("div", { class: "axis", "aria-hidden": "true" },
      ...ticks.map(([time]) => h("div", { class: "tick", style: `left:${this.x(time)}px` })),
      place && h("div", { class: `stretch${place.cut}`, style: place.style }));
  }

  /** All that the drawing says of an item. */
  words(item) {
    const { critical, slack } = this.when(item);
    const took = nanoseconds(item.finish - item.start);
    const run = item.run
      ? `estimated ${took}, measured ${nanoseconds(item.measured)} (${ratioOf(item)})` : took;
    return `${this.schedule.nameOf(item)}, ${run}, `
      + (critical ? this.schedule.criticalWords(item, this.by) : `slack ${nanoseconds(slack)}`)
      + (item.tasks > 1 ? `, work shared by ${item.tasks} tasks` : "");
  }

  /** The first and the last item, by position, that run in the stretch in view. */
  itemsInView() {
    const { items } = this.schedule;
    if (this.window.isWhole) return [0, items.length - 1];
    const isSeen = (it) => this.window.sees(this.timeOf(it));
    const first = items.findIndex(isSeen);
    return first < 0 ? [0, items.length - 1] : [first, items.findLastIndex(isSeen)];
  }

  /** The entity that is followed: the one under the pointer, else the selected one. */
  get focus() {
    const { selected, hovered } = this.store;
    const isOurs = this.schedule.itemOf.has(hovered) || this.schedule.fusionOf.has(hovered);
    return isOurs ? hovered : selected;
  }

  light() {
    const { selected, model } = this.store;
    const { focus } = this;
    const related = model.related(focus);
    const isDim = this.schedule.items.some((it) => related.has(it.e));
    for (const node of this.drawing.querySelectorAll(".item, .piece, .iteration[data-entity]")) {
      const entities = node.entities ?? [Number(node.dataset.entity)];
      const isRelated = entities.some((it) => related.has(it));
      const isSelected = entities.includes(selected);
      node.classList.toggle("selected", isSelected);
      node.classList.toggle("related", isRelated && !isSelected);
      node.classList.toggle("found", entities.some((it) => this.found.has(it)));
      const isHidden = this.critical && !node.matches(".critical");
      node.classList.toggle("far", isHidden || (isDim && !isRelated));
    }
    this.lightArrows(focus);
    if (!this.isWorkers) this.curve.light();
  }

  /** Packed rows have the arrows of what is followed alone. */
  lightArrows(focus) {
    const isFollowing = this.isPacked && !this.isWorkers;
    if (isFollowing && focus !== this.arrowsFor && this.arrowPicture) {
      const picture = this.arrows.draw(this.drawn, focus);
      this.arrowPicture.replaceWith(picture);
      Object.assign(this, { arrowsFor: focus, arrowPicture: picture });
    }
    for (const path of this.drawing.querySelectorAll(".dependency")) {
      path.classList.toggle("near", path.ends.includes(focus));
    }
  }

  reveal() {
    const { selected } = this.store;
    if (selected === this.revealed) return;
    this.revealed = selected;
    const related = this.store.model.related(selected);
    const item = this.schedule.items.find((it) => related.has(it.e));
    if (!item) return;
    const { start, finish } = this.timeOf(item);
    this.window.reveal(start, finish);
    const top = HEAD + this.rowOf.get(item.position).top;
    const { scrollTop, clientHeight } = this.scroll;
    const isSeen = top >= scrollTop + HEAD && top + ROW <= scrollTop + clientHeight;
    if (!isSeen) this.scroll.scrollTop = top - clientHeight / 2;
    this.moved();
  }

  search(text) {
    const wanted = text.toLowerCase();
    const hits = this.schedule.items.filter((it) =>
      wanted && this.schedule.nameOf(it).toLowerCase().includes(wanted));
    this.found = new Set(hits.map((it) => it.e));
    this.light();
    return hits;
  }

  visit(hit) {
    this.store.select(hit.e);
  }

  status() {
    if (!this.rows) return "";
    const { items } = this.schedule;
    if (this.isWorkers) return this.workerNotes().filter(Boolean).join(" · ");
    const notes = [
      counted(items.length, "item"),
      ...(this.isPacked ? this.packedNotes() : this.rowNotes()),
      this.arrows.leftOut && `${count(this.arrows.leftOut)} arrows left out`,
      pathWords(this.schedule, this.isMeasured),
      timeWords(this),
    ];
    return notes.filter(Boolean).join(" · ");
  }

  rowNotes() {
    const rows = this.rows.filter((row) => row.type !== "lane");
    const drawn = this.drawn.filter((row) => row.type !== "lane").length;
    const folded = [...this.folded].reduce(
      (sum, loop) => sum + this.schedule.loops[loop].items.length, 0);
    return [
      folded && `${count(folded)} folded into ${counted(this.folded.size, "loop")}`,
      drawn < rows.length && `${count(drawn)} of ${count(rows.length)} rows drawn: scroll for more`,
    ];
  }

  packedNotes() {
    const { drawn, items } = this.packedRows;
    const isFull = this.rows.some((row) => row.hasSlack === false);
    return [
      drawn < items && `${count(items)} in view, drawn as ${counted(drawn, "bar")}: zoom in`,
      isFull && "no room for slack: see the inspector",
    ];
  }

  workerNotes() {
    const { bars } = this.schedule.workers;
    const { leftOut } = this.workerArrows;
    return [`${counted(bars.length, "bar")} of ${counted(this.schedule.items.length, "item")}`,
      this.workerRows.drawn < bars.length && this.window.isWhole
        && `drawn as ${count(this.workerRows.drawn)} boxes: zoom in`,
      leftOut && `${count(leftOut)} arrows left out`, this.schedule.workers.clocks];
  }

  /** The signs in the legend of workers' lanes. */
  presentOfWorkers() {
    const { bars, waits, path } = this.schedule.workers;
    const kinds = new Set(bars.map((it) => KINDS[it.kind]));
    const origins = kinds.delete("control") ? [["control", "compiling, giving Dask tasks"]] : [];
    return { kinds, origins, edges: new Set(),
      marks: new Set([path.length && "path", waits.length && "waits"].filter(Boolean)) };
  }

  present() {
    if (this.isWorkers) return this.presentOfWorkers();
    const { items, dependencies } = this.schedule;
    const both = this.isMeasured && !this.isPacked ? ["estimated", "measured"] : [];
    const hasSlack = this.arrangement !== "cores";
    return {
      kinds: new Set(items.map((it) => it.op)),
      edges: new Set(dependencies.map(([, , kind]) => kind)),
      marks: new Set([...both, ...["critical", "slack"].filter((mark) =>
        items.some((it) => (mark === "slack" ? hasSlack && this.when(it).slack > 0
          : this.when(it).critical)))]),
    };
  }
}
