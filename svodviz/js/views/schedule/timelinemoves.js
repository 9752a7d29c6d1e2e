// Navigation on the timeline: the wheel, dragging, and keys, as in the tracing tools.

import { drag, turned, turnedToZoom } from "../../kit/pointer.js";

const STEP = 0.2; // of the view: one press of a key that moves
const ZOOM = 0.7; // of the time in view: one press of a key, or a button, that zooms in
const WHEEL = 0.0025; // by which power of e a pixel of the wheel zooms

/** The action of each key; `s` and `-` undo `w` and `+`. */
const KEYS = {
  w: (view) => view.zoomBy(ZOOM), "+": (view) => view.zoomBy(ZOOM),
  s: (view) => view.zoomBy(1 / ZOOM), "-": (view) => view.zoomBy(1 / ZOOM),
  a: (view) => view.moveBy(-STEP), ArrowLeft: (view) => view.moveBy(-STEP),
  d: (view) => view.moveBy(STEP), ArrowRight: (view) => view.moveBy(STEP),
  ",": (view) => view.selectNext(-1), ".": (view) => view.selectNext(1),
};

/** Does what a key stands for; whether it stands for something. */
export function steer(view, key) {
  KEYS[key]?.(view);
  return key in KEYS;
}

/** Listens to wheel, pointer and keys; `view` has `window`, `timeAt` and the steps above. */
export function listenToMoves(view) {
  const { scroll, ruler } = view;
  scroll.addEventListener("wheel", (event) => turn(view, event), { passive: false });
  scroll.addEventListener("keydown", (event) => press(view, event));
  scroll.addEventListener("dblclick", (event) => view.approach(event));
  drag(scroll, (event) => begin(view, event));
  drag(ruler, (event) => mark(view, event));
}

/** With Ctrl the wheel zooms around the pointer, sideways (or with Shift) it moves. */
function turn(view, event) {
  const [across, down] = turned(event);
  const isZoom = event.ctrlKey || event.metaKey;
  const sideways = event.shiftKey && !across ? down : across;
  if (!isZoom && Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : down)) return;
  event.preventDefault();
  event.stopPropagation();
  if (isZoom) {
    view.zoomBy(Math.exp(turnedToZoom(event) * WHEEL), view.timeAt(event));
  } else {
    view.moveBy(sideways / view.width);
  }
}

function press(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target !== view.scroll) return;
  const isDone = event.key === "Escape" ? view.clearStretch() : steer(view, event.key);
  if (!isDone) return;
  event.preventDefault();
  event.stopPropagation();
}

/** A drag over the lanes moves them, with Shift it marks a stretch. */
function begin(view, event) {
  if (event.target.closest("button") || view.ruler.contains(event.target)) return null;
  if (event.shiftKey) return mark(view, event);
  const { from, length } = view.window;
  const { scrollTop } = view.scroll;
  return (dx, dy) => {
    const start = from - (dx / view.width) * length;
    view.scroll.scrollTop = scrollTop - dy;
    view.showWindow(start, start + length);
  };
}

/** A drag over the axis marks a stretch of time. */
function mark(view, event) {
  const start = view.timeAt(event);
  return (dx, dy, now) => {
    const end = view.timeAt(now);
    view.markStretch(Math.min(start, end), Math.max(start, end));
  };
}
