// Pan and zoom with mouse, wheel and touch pad on one element.

import { drag, turnedToZoom } from "../../kit/pointer.js";

const WHEEL = 0.0022; // by which power of e a pixel of the wheel zooms

/**
 * @param {Element} surface
 * @param {{camera: import("../../kit/geometry.js").Camera, mayZoom: (event: WheelEvent) => boolean,
 *   moveTo: (camera: Object) => void}} owner
 */
export function handleCamera(surface, owner) {
  surface.addEventListener("wheel", (event) => {
    if (!owner.mayZoom(event)) return;
    event.preventDefault();
    event.stopPropagation();
    const area = surface.getBoundingClientRect();
    const factor = Math.exp(-turnedToZoom(event) * WHEEL);
    const { camera } = owner;
    owner.moveTo(camera.zoomed(factor, event.clientX - area.left, event.clientY - area.top));
  }, { passive: false });
  drag(surface, () => {
    const { camera } = owner;
    return (dx, dy) => owner.moveTo(camera.moved(dx, dy));
  });
}
