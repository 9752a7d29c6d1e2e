// Pan and zoom with mouse, wheel and touch pad on one element.

const DRAG = 4; // pixels before a press becomes a drag

/**
 * @param {Element} surface
 * @param {{camera: import("../../kit/geometry.js").Camera, mayZoom: (event: WheelEvent) => boolean,
 *   moveTo: (camera: Object) => void}} owner
 */
export function handleCamera(surface, owner) {
  let press = null;
  surface.addEventListener("wheel", (event) => {
    if (!owner.mayZoom(event)) return;
    event.preventDefault();
    event.stopPropagation();
    const area = surface.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const factor = Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) * 0.0022);
    const { camera } = owner;
    owner.moveTo(camera.zoomed(factor, event.clientX - area.left, event.clientY - area.top));
  }, { passive: false });
  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    press = { x: event.clientX, y: event.clientY, camera: owner.camera, isDrag: false };
  });
  surface.addEventListener("pointermove", (event) => {
    if (!press) return;
    const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
    if (!press.isDrag && Math.hypot(dx, dy) < DRAG) return;
    if (!press.isDrag) surface.setPointerCapture(event.pointerId);
    press.isDrag = true;
    surface.classList.add("dragging");
    owner.moveTo(press.camera.moved(dx, dy));
  });
  // The click that ends a drag comes right after the release: it must not select anything.
  let isAfterDrag = false;
  surface.addEventListener("click", (event) => {
    if (isAfterDrag) event.stopImmediatePropagation();
  }, { capture: true });
  surface.addEventListener("pointerup", () => {
    isAfterDrag = Boolean(press?.isDrag);
    setTimeout(() => { isAfterDrag = false; }, 0);
    release();
  });
  const release = () => {
    surface.classList.remove("dragging");
    press = null;
  };
  surface.addEventListener("pointercancel", release);
}
