// Bringing the inputs or the users of the selection into view, wherever they are hidden. Pure but
// for the view that it moves.

import { Camera, fit, holds, union } from "../../kit/geometry.js";

/**
 * The changes that make the neighbours of an entity drawn: folded groups that open, and,
 * where only a part of the graph is drawn, one more node whose neighbours are. Pure.
 * @param {any} picture see picture.js
 * @param {any} chosen the node of the picture in which the entity is seen
 * @param {"inputs" | "users"} side
 * @param {{open: string[], only: string[], selected: string}} state
 * @returns {{open?: string[], only?: string[]}} parts of a state; none where all is drawn
 */
export function unfoldingOf(picture, chosen, side, { open, only, selected }) {
  const folded = [chosen, ...neighboursOf(picture, chosen, side)].filter((it) => it.row.fold)
    .map((it) => it.group);
  const more = [...new Set(folded)].filter((it) => !open.includes(it));
  return {
    ...(more.length && { open: [...open, ...more] }),
    ...(only.length && chosen.hidden && !only.includes(selected)
      && { only: [...only, selected] }),
  };
}

/**
 * The nodes at the other ends of the edges that lead to a node, or from it.
 * @param {any} picture
 * @param {any} chosen
 * @param {"inputs" | "users"} side
 * @returns {any[]}
 */
export function neighboursOf(picture, chosen, side) {
  const edges = picture.neighbours.get(chosen)?.[side] ?? [];
  return edges.map((/** @type {any} */ edge) => (side === "inputs" ? edge.from : edge.to));
}

/**
 * The camera that shows all of `box`: the same where it does, never closer than it was. Pure.
 * @param {Camera} camera
 * @param {import("../../kit/geometry.js").Box} box
 * @param {[number, number]} size of the screen
 */
export function cameraOver(camera, box, [width, height]) {
  if (holds(camera.view(width, height), box)) return camera;
  const { scale } = fit(box, width, height, true);
  const near = Math.min(scale, camera.scale);
  const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  return new Camera(width / 2 - x * near, height / 2 - y * near, near);
}

/**
 * Draws the inputs or users of the selection, and brings them into view together with it.
 * @param {any} view the graph on screen
 * @param {"inputs" | "users"} side
 */
export function reveal(view, side) {
  const { store } = view;
  const seen = () => view.picture?.byEntity.get(store.selected);
  if (!seen()) return;
  const change = unfoldingOf(view.picture, seen(), side, { ...store.state, open: view.opened });
  if (change.open) view.openGroups(change.open);
  if (change.only) store.set({ only: change.only });
  const shown = [seen(), ...neighboursOf(view.picture, seen(), side)];
  view.moveTo(cameraOver(view.camera, union(shown.map((it) => it.box)), view.size()));
}
