// The findings of the simulated caches, as bars and in words.

import { bytes, count, counted, h } from "../../kit/dom.js";

/** Lines found at each level and in memory: [[name, lines, share of all asked]]. Pure. */
export function foundAt(cache) {
  const first = cache.levels[0]?.[3] ?? 0;
  const rows = cache.levels.map(([name, , , , hits]) => [name, hits]);
  const last = cache.levels.at(-1);
  rows.push(["memory", last ? last[3] - last[4] : 0]);
  return rows.map(([name, lines]) => [name, lines, first ? lines / first : 0]);
}

/** A share in percent; small ones are not called nothing. */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(share > 0.9995 && share < 1 ? 2 : 1)} %`;
}

const KINDS = ["memory", "kernel", "elementwise", "reduce"];

/** The section of one point; `before` is the point to compare with, or null. */
export function cacheBars(point, before) {
  const { cache } = point;
  if (!cache) {
    return [h("p", { class: "hint" }, point.unseen
      ? `Its accesses are not known: ${point.unseen}.` : "Nothing was simulated.")];
  }
  const rows = foundAt(cache);
  const old = before?.cache ? foundAt(before.cache) : null;
  return [
    h("p", { class: "cache-words" }, sentence(cache, old, before)),
    h("div", { class: "cache-bars" }, ...rows.map((row, level) =>
      bar(row, KINDS[Math.min(level, 3)], old?.[level], cache.levels[level]))),
    old && h("p", { class: "hint cache-key" },
      h("span", { class: "cache-old", "aria-hidden": "true" }),
      `the same of ${before.label || `point ${before.number}`}`),
    perMemory(cache),
    h("p", { class: "hint" }, "Simulated from the addresses of the lowered code, in order, with "
      + "the caches of the machine model, without hardware prefetch. "
      + "Lines have 64 bytes."),
  ].filter(Boolean);
}

function sentence(cache, old, before) {
  const part = cache.accesses < cache.total ? ` (the first of ${count(cache.total)})` : "";
  const shared = cache.tasks > 1 ? ` by ${cache.tasks} tasks, each with its own caches` : "";
  const [, , first] = foundAt(cache)[0];
  const parts = [
    `${count(cache.accesses)} accesses${part}${shared} touch ${counted(cache.lines, "line")} `
    + `(${bytes(cache.lines * 64)}).`,
    `${percent(first)} hit the first cache; ${misses(cache)} lines miss.`,
  ];
  if (old && before.number !== undefined) {
    const [now, then] = [missesOf(cache), missesOf(before.cache)];
    if (now !== then) {
      const ratio = now < then ? then / Math.max(1, now) : now / Math.max(1, then);
      const times = ratio >= 10 ? count(Math.round(ratio)) : ratio.toPrecision(2);
      const words = now < then ? `1/${times} of those` : `${times} times those`;
      parts.push(`That is ${words} at point ${before.number}.`);
    }
  }
  if (cache.streamed) parts.push(`${counted(cache.streamed, "line")} bypassed the caches.`);
  if (cache.fetches) parts.push(fetchedAhead(cache));
  return parts.join(" ");
}

/** A sentence on prefetched lines. Pure. */
export function fetchedAhead({ fetches, fetched }) {
  const missing = count(fetched[0] ?? 0);
  return `${counted(fetches, "line")} prefetched, ${missing} of them not yet in the first `
    + "cache: later reads find them there.";
}

const missesOf = (cache) => (cache.levels[0] ? cache.levels[0][3] - cache.levels[0][4] : 0);
const misses = (cache) => count(missesOf(cache));

function bar([name, lines, share], kind, old, level) {
  const size = level ? `${bytes(level[1])}, ${level[2]} ways` : "";
  return h(
    "div", { class: "cache-row" },
    h("span", { class: "cache-name" }, h("b", {}, name), h("small", {}, ` ${size}`)),
    h("span", { class: "cache-track" },
      h("span", {
        class: "cache-fill", "data-kind": kind, style: `width: ${Math.max(share * 100, 0.2)}%`,
      }),
      old && h("span", { class: "cache-old", style: `left: ${old[2] * 100}%`,
        title: `${percent(old[2])} before` })),
    h("span", { class: "cache-figure" }, `${percent(share)}`, h("small", {}, ` ${count(lines)}`)),
  );
}

/** The same by memory of the kernel. */
function perMemory(cache) {
  const names = [...cache.levels.map(([name]) => name), "memory"];
  return h(
    "div", { class: "figures play-table", tabindex: "0", role: "region",
      "aria-label": "By argument" },
    h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "words" }, "found in"),
        ...["accesses", "lines", ...names].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...cache.memories.map(([name, label, accesses, lines, found]) => h(
        "tr", {}, h("th", { scope: "row" }, label ? `${name} (${label})` : name),
        ...[accesses, lines, ...found].map((it) => h("td", {}, count(it))))))));
}
