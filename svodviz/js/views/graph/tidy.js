// Asks Python to lay a graph out with Graphviz: in a process of its own, which can be stopped.

import { route } from "../../data/graph/layers.js";
import { button, duration, h } from "../../kit/dom.js";
import { arrow, union } from "../../kit/geometry.js";

const EVERY = 250; // milliseconds between two looks
const FEW = 3; // nodes below which there is nothing to tidy

export class Tidy {
  /** @param store @param {() => void} onDone called once a picture has other places */
  constructor(store, onDone) {
    this.store = store;
    this.onDone = onDone;
    this.words = h("span", { class: "tidy-words", "aria-live": "polite" });
    this.start = button("tidy", () => this.begin(), {
      title: "Lay out with Graphviz, in a process of its own",
    });
    this.stop = button("stop", () => this.end(), { title: "Stop the layout" });
    this.root = h("span", { class: "tidy", hidden: true }, this.words, this.start, this.stop);
    this.stop.hidden = true;
    store.requests?.onLive(() => this.update());
    store.requests?.onLost(() => this.update());
  }

  /** @param picture what is on screen @param scene null where places must not change */
  show(picture, scene) {
    if (this.picture !== picture && this.job) this.end();
    this.picture = scene ? picture : null;
    this.update();
  }

  update() {
    const isOurs = this.picture?.engine === "the page" && this.picture.nodes.length >= FEW;
    this.root.hidden = !this.store.requests?.isLive || (!isOurs && !this.words.textContent);
    this.start.hidden = Boolean(this.job) || !isOurs;
    this.stop.hidden = !this.job;
  }

  async begin() {
    const { picture } = this;
    const at = new Map(picture.nodes.map((node, i) => [node, i]));
    const boxes = picture.nodes.map(({ row }) => [row.w, row.h, ""]);
    const pairs = new Map();
    for (const { from, to } of picture.edges.filter((it) => !it.isLoose)) {
      pairs.set(`${at.get(from)} ${at.get(to)}`, [at.get(from), at.get(to)]);
    }
    const edges = [...pairs.values()];
    try {
      const { job } = await this.store.requests.ask("layout: start", { boxes, edges });
      this.job = job;
      this.update();
      this.look(picture, job, [...pairs.keys()], at);
    } catch (error) {
      this.finish(error.message);
    }
  }

  async look(picture, job, pairs, at) {
    if (this.job !== job) return;
    try {
      const answer = await this.store.requests.ask("layout: look", { job });
      if (this.job !== job) return;
      if (answer.state === "running") {
        this.words.textContent = `laying out, ${duration(answer.seconds)}`;
        setTimeout(() => this.look(picture, job, pairs, at), EVERY);
      } else if (answer.state === "done") {
        adopt(picture, answer, pairs, at);
        this.finish("");
        this.onDone();
      } else {
        this.finish(answer.words);
      }
    } catch (error) {
      this.finish(error.message);
    }
  }

  end() {
    const { job } = this;
    this.finish("stopped");
    this.store.requests.ask("layout: stop", { job }).catch(() => {});
  }

  finish(words) {
    this.job = null;
    this.words.textContent = words;
    this.update();
  }
}

/** Gives a picture the places and routes of an answer. */
export function adopt(picture, { places, routes, seconds }, pairs, at) {
  picture.nodes.forEach((node, i) => {
    const [x, y] = places[i];
    Object.assign(node, { x, y, box: [x, y, x + node.row.w, y + node.row.h] });
  });
  const found = new Map(pairs.map((pair, i) => [pair, arrow(routes[i])]));
  for (const edge of picture.edges) {
    edge.arrow = found.get(`${at.get(edge.from)} ${at.get(edge.to)}`)
      ?? arrow(route(edge.from.box, edge.to.box, []));
  }
  Object.assign(picture, {
    groups: [], box: union(picture.nodes.map((it) => it.box)), engine: "Graphviz dot", seconds,
    key: `${picture.key} tidy`,
  });
}
