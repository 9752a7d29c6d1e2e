// The inspector's section on a node's share of the kernels that compute it.

import { entitiesOf, partsOfWork } from "../data/graph/shares.js";
import { h, nanoseconds } from "../kit/dom.js";
import { percent } from "../kit/words.js";

const LISTED = 6;
const HOW = "The time of a kernel is known as a whole and divided among its nodes by operations: "
  + "movement, constants and inputs have none.";

/** The section, where the node's scene has parts of any item's work. */
export function partSection(inspector, place) {
  const { model } = inspector.store;
  const scene = place && place.replay === undefined && place.stage === "graph"
    ? model.stageById.get(place.stage).units[place.unit].scene : null;
  if (!scene || !model.schedule) return null;
  const mine = entitiesOf(place.row);
  const rows = [...partsOfWork(model, scene)].flatMap(([item, parts]) => {
    const [time, , read, written] = [0, 1, 2, 3].map((kind) =>
      mine.reduce((sum, it) => sum + (parts.get(it)?.[kind] ?? 0), 0));
    return time + read + written > 0 ? [[model.schedule.items[item], time]] : [];
  });
  if (!rows.length) return null;
  const left = rows.length - LISTED;
  return inspector.section("Part of its kernels",
    inspector.facts(rows.slice(0, LISTED).map(([item, part]) =>
      [`${item.name} (item ${item.position})`, words(item, part)])),
    left > 0 && h("p", { class: "more" }, `and ${left} more`),
    h("p", { class: "hint" }, HOW));
}

function words(item, part) {
  const of = (whole, how) => `${nanoseconds(whole * part)} of ${nanoseconds(whole)} ${how}`;
  const times = [of(item.ns, "estimated"), item.measured ? of(item.measured, "measured") : ""];
  return [percent(part), ...times].filter(Boolean).join(", ");
}
