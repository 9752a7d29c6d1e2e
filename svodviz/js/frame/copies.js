// Copies of the screen: a line, a text, a graph, a picture, Python.

import { dotOf, insideOf, mermaidOf, nodeLinkOf, writtenOf } from "../data/graph/writing.js";
import { placesOf, placeOfLine } from "../data/places.js";
import { fileName, saveFile } from "../kit/clipboard.js";
import { pictureOf, rasterized } from "../kit/paper.js";

/**
 * @typedef {{label: string, text?: () => string, save?: () => Promise<string>}} Item `text` is
 *   copied; `save` gives words on what was saved
 * @typedef {{title: string, code?: string, items: Item[]}} Section
 */

const FORMS = [["DOT", dotOf], ["Mermaid", mermaidOf], ["JSON", nodeLinkOf]];
const copied = (text) => [{ label: "copy", text: () => text }];

/**
 * @param explorer @param {Element | null} target what was pointed at
 * @returns {Section[]}
 */
export function copiesOf(explorer, target) {
  const { store, view, address } = explorer;
  return [
    ...(address?.link ? [{ title: "Link to this place", items: copied(address.link) }] : []),
    ...lineSections(explorer, target),
    ...(view === explorer.views.graph ? graphSections(explorer, target) : []),
    ...pictureSections(explorer),
    ...pythonSections(store),
  ];
}

function lineSections({ store, pane }, target) {
  const { model, state } = store;
  const line = target?.closest?.(".line") ?? pane.querySelector(".line.selected");
  const text = (target?.closest?.("[data-text]") ? target : line)?.closest("[data-text]");
  const stage = model.stageById.get(text?.dataset.text ?? state.stage);
  const row = text && model.text(stage.id)[Number(line?.dataset.index ?? -1)];
  const unit = row?.unit ?? (stage.id === state.stage ? state.unit : 0);
  return [
    ...(line ? [{ title: "This line", items: copied(wordsOfLine(model, stage, line)) }] : []),
    ...(isForeign(state) ? [] : textSections(model.text(stage.id), stage, unit)),
  ];
}

/** The text of one kernel of a stage, and that of all. */
function textSections(rows, { label, units }, unit) {
  const written = (all) => all.map((it) => it.text).join("\n");
  const lines = rows.filter((it) => !it.heading);
  if (!lines.length) return [];
  if (units.length < 2) return [{ title: `Text of ${label}`, items: copied(written(lines)) }];
  const own = lines.filter((it) => it.unit === unit);
  return [
    { title: `Text of ${label} ${units[unit].name}`, items: copied(written(own)) },
    { title: `Text of ${label}, all`, items: copied(written(rows)) },
  ];
}

/** True if assembly of another machine is on screen: the program's own is another text. */
const isForeign = ({ view, machine }) => view === "machine" && machine !== "";

/** A line with the lines of the program that it comes from: `program.py:12: for i0 in 0 … 64:` */
function wordsOfLine(model, stage, line) {
  const text = line.querySelector("code").textContent.trim();
  const number = Number(line.querySelector(".number").textContent);
  const isSource = line.closest("[data-text]")?.dataset.text === "source";
  const places = isSource ? placeOfLine(model, number)
    : placesOf(model, Number(line.dataset.entity));
  return `${places || `${stage.label} ${number}`}: ${text}`;
}

function graphSections({ store, views }, target) {
  const { graph } = views;
  const { model } = store;
  const { picture } = graph;
  if (!picture) return [];
  const name = `${model.name}: ${store.stage.label}`;
  const box = target?.closest?.(".node")?.node ?? picture.byEntity.get(store.selected);
  const paths = graph.route?.paths;
  const items = (make) => FORMS.map(([label, write]) =>
    ({ label, text: () => /** @type {any} */ (write)(make()) }));
  const near = () => {
    const { inputs = [], users = [] } = picture.neighbours.get(box) ?? {};
    return writtenOf(name, model, picture,
      [box, ...inputs.map((it) => it.from), ...users.map((it) => it.to)]);
  };
  return [
    ...(paths ? [{ title: "Paths",
      items: items(() => writtenOf(name, model, picture, paths.nodes)) }] : []),
    ...(box?.row.fold && store.state.stage !== "passes" ? [{ title: `Inside ${box.row.label[0]}`,
      items: items(() => insideOf(name, model, graph.scene, box)) }] : []),
    ...(box ? [{ title: `${box.row.label[0]} and its neighbours`, items: items(near) }] : []),
    { title: "Graph as drawn", items: items(() => writtenOf(name, model, picture)) },
  ];
}

function pictureSections({ store, view }) {
  const paper = view.paper?.();
  if (!paper) return [];
  const { stage, state, model } = store;
  const title = [model.name, stage.label, stage.units.length > 1 && stage.units[state.unit]?.name]
    .filter(Boolean);
  const svg = () => {
    if (paper.words) throw new Error(paper.words);
    return pictureOf(paper.svg(), paper.box, `${title[0]}: ${title.slice(1).join(" ")}`);
  };
  const save = async (ending, content) => {
    const name = fileName(title, ending);
    saveFile(name, await content);
    return `saved: ${name}`;
  };
  return [{ title: "Picture", items: [
    { label: "save SVG", save: async () =>
      save("svg", new Blob([svg()], { type: "image/svg+xml" })) },
    { label: "save PNG", save: async () => save("png", rasterized(svg())) },
  ] }];
}

function pythonSections({ stage, state, model }) {
  if (stage.id === "passes") {
    const graph = model.passes.length && stage.python?.replace("{pass}", String(state.pass))
      .replace("{step}", String(state.step));
    return graph ? [{ title: "This graph in Python", code: graph, items: copied(graph) }] : [];
  }
  const { python, scene } = stage.units[state.unit] ?? {};
  if (!python || isForeign(state)) return [];
  const [graph, text] = python;
  const isAsked = stage.asked && stage.id !== "run";
  return [
    ...(scene || stage.id === "run"
      ? [{ title: "This graph in Python", code: graph, items: copied(graph) }] : []),
    ...(isAsked || scene || model.text(stage.id).length
      ? [{ title: "This text in Python", code: text, items: copied(text) }] : []),
  ];
}
