// Drags and the wheel: a press that becomes a drag, an edge that follows the pointer, how far a
// wheel turned.

const DRAG = 4; // pixels before a press becomes a drag
const LINE = 16; // pixels of a line, which some wheels turn by
const MOST = 120; // pixels that one turn counts at most when it zooms: a choice

/** @typedef {(dx: number, dy: number, event: PointerEvent) => void} Move */

/**
 * Calls what `start` gives with the way from the press; the click that ends a drag is none.
 * @param {Element} surface
 * @param {(event: PointerEvent) => Move | null} start null: this press is no drag
 */
export function drag(surface, start) {
  /** @type {{move: Move, x: number, y: number, isDrag: boolean} | null} */
  let press = null;
  // The click that ends a drag comes right after the release: it must not select anything.
  let isAfterDrag = false;
  listen(surface, "pointerdown", (event) => {
    const move = event.button === 0 ? start(event) : null;
    press = move ? { move, x: event.clientX, y: event.clientY, isDrag: false } : null;
  });
  listen(surface, "pointermove", (event) => {
    if (!press) return;
    const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
    if (!press.isDrag && Math.hypot(dx, dy) < DRAG) return;
    if (!press.isDrag) surface.setPointerCapture(event.pointerId);
    press.isDrag = true;
    surface.classList.add("dragging");
    press.move(dx, dy, event);
  });
  const release = () => {
    surface.classList.remove("dragging");
    press = null;
  };
  listen(surface, "pointerup", () => {
    isAfterDrag = Boolean(press?.isDrag);
    setTimeout(() => { isAfterDrag = false; }, 0);
    release();
  });
  listen(surface, "pointercancel", release);
  surface.addEventListener("click", (event) => {
    if (isAfterDrag) event.stopImmediatePropagation();
  }, { capture: true });
}

/**
 * Follows the pointer from a press on an edge until it lets go.
 * @param {PointerEvent} press
 * @param {(event: PointerEvent) => void} move
 * @param {() => void} end
 */
export function followPress(press, move, end) {
  if (press.button !== 0) return;
  const edge = /** @type {Element} */ (press.currentTarget);
  const over = new AbortController();
  const stop = () => {
    over.abort();
    end();
  };
  edge.setPointerCapture(press.pointerId);
  listen(edge, "pointermove", move, over.signal);
  for (const kind of ["pointerup", "pointercancel"]) listen(edge, kind, stop, over.signal);
}

/**
 * Pixels that a wheel turned: across, down.
 * @param {WheelEvent} event
 */
export function turned({ deltaX, deltaY, deltaMode }) {
  const unit = deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
  return [deltaX * unit, deltaY * unit];
}

/**
 * The same downwards, as far as one turn counts for a zoom.
 * @param {WheelEvent} event
 */
export function turnedToZoom(event) {
  return Math.max(-MOST, Math.min(MOST, turned(event)[1]));
}

/**
 * @param {Element} element @param {string} kind @param {(event: any) => void} listener
 * @param {AbortSignal} [signal]
 */
function listen(element, kind, listener, signal) {
  element.addEventListener(kind, listener, { signal });
}
