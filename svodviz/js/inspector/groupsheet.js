// The inspector's sections on a folded group: what is in it, and the group of the other direction.

import { inGroup } from "../data/graph/parts.js";
import { backWords, partnersIn } from "../data/graph/twins.js";
import { button, h } from "../kit/dom.js";

const LISTED = 8; // partners: a choice
const ROOM = 120; // columns for what is in it: the words break

/**
 * The folded group that a picture shows for the selection; null where that is a node in it which
 * was selected elsewhere.
 */
export function groupAt(picture, entity) {
  const node = picture?.byEntity.get(entity);
  return node?.row.fold && node.row.e === entity && node.members.length > 1 ? node : null;
}

/** The sections of a folded group. */
export function groupSections(inspector, picture, node) {
  return [
    h("div", { class: "inspector-head", "data-kind": node.row.kind },
      h("span", { class: "swatch", "aria-hidden": "true" }),
      h("h3", {}, node.row.label[0]),
      h("p", { class: "type" }, node.row.label[1] ?? "")),
    inspector.facts([["holds", inGroup(node.members, ROOM)], ["of these", backWords(node.members)]]
      .filter(([, words]) => words)),
    partners(inspector, picture, node),
    h("p", { class: "hint" }, "Last node of the group:"),
  ];
}

/** One click to the group, or the nodes, of the other direction. */
function partners(inspector, picture, node) {
  const { store } = inspector;
  const found = [...partnersIn(store.model, picture, node)];
  if (!found.length) return null;
  const more = found.length - LISTED;
  return inspector.section(node.row.back ? "Backward pass of" : "Its backward pass",
    inspector.links(found.slice(0, LISTED).map(({ row }) =>
      button(row.label[0], () => store.select(row.e), {
        class: "entity-link",
        onmouseenter: () => store.hover(row.e),
        onmouseleave: () => store.hover(-1),
      }))),
    more > 0 && h("p", { class: "more" }, `and ${more} more, highlighted in the graph`));
}
