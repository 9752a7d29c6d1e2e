// Questions to Python, where a kernel is there to answer (see requests.py). Pure but for the model.

import { followKernel } from "./kernel.js";

/**
 * @typedef {Object} Host what anywidget gives; an exported page's stand-in has no `send`
 * @property {(message: object) => void} [send]
 * @property {(name: string) => any} [get]
 * @property {{kernel?: import("./kernel.js").Kernel | null}} [widget_manager]
 * @property {(event: string, listener: (message: any) => void) => void} on
 * @property {(event: string, listener: (message: any) => void) => void} off
 *
 * @typedef {Object} Asked
 * @property {(result: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {(words: string) => void} onProgress
 */

const ABSENT = "No Python kernel: this page can only show what was recorded.";
const RECORDED = "This page shows what was recorded when it was made.";
const LOST = "The kernel that made this explorer has ended: run its cell again.";
const ENDED = "This explorer was closed in Python: run its cell again.";
const CLOSED = "The explorer was closed.";

/**
 * The way to a page with more in it, in the terms of its maker, which an exported page knows.
 * @type {Record<string, (choice: string) => string>}
 */
const AGAIN = {
  "command line": (choice) =>
    `make the page again with svodviz explore --${choice.replace("_", "-")}`,
  Python: (choice) => `make the page again from explore(x, ${choice}=True)`,
  notebook: (choice) => `run the notebook's cell with explore(x, ${choice}=True), save, and `
    + "convert the notebook again",
  "": (choice) => `run the notebook's cell again, or with explore(x, ${choice}=True)`,
};

/**
 * A question as one text, the same as Python makes of it.
 * @param {string} name
 * @param {object} args
 */
export function keyOf(name, args) {
  return `${name} ${JSON.stringify(args, Object.keys(args).sort())}`;
}

/** Sends requests and hands out their answers. */
export class Requests {
  /** @param {Host | null} model @param {boolean} isConnected false for one of a saved notebook */
  constructor(model, isConnected = true) {
    this.model = model;
    this.isLive = false;
    /** The maker of an exported page; "" for a widget. */
    this.maker = String(model?.get?.("maker") ?? "");
    const absent = this.isExported ? RECORDED : ABSENT;
    /** The reason why nothing is answered, in words; "" while an answer may come. */
    this.obstacle = model?.send && isConnected ? "" : absent;
    /** @type {Map<number, Asked>} */
    this.waiting = new Map();
    /** @type {(() => void)[]} */
    this.liveListeners = [];
    /** @type {(() => void)[]} */
    this.lostListeners = [];
    this.last = 0;
    if (model && !this.obstacle) this.follow(model);
  }

  /** True if this page never asks Python. */
  get isExported() {
    return this.maker !== "" && !this.model?.send;
  }

  /**
   * The argument for more in the page: "measure" or "machine_code".
   * @param {string} choice
   */
  howTo(choice) {
    return (AGAIN[this.maker] ?? AGAIN.Python)(choice);
  }

  /**
   * True if a question of this name has an answer here, or may get one.
   * @param {string} name @param {object} [args]
   */
  offers(name, args) {
    if (!this.isExported) return true;
    if (args) return this.recorded(name, args) !== undefined;
    const { model } = this;
    const all = { ...model?.get?.("recorded"), ...model?.get?.("wire")?.recorded };
    return Object.keys(all).some((key) => key.startsWith(`${name} `));
  }

  /** @param {Host} model */
  follow(model) {
    /** @param {any} message */
    const take = (message) => this.receive(message);
    const end = () => { if (model.get?.("ended")) this.lose(ENDED); };
    model.on("msg:custom", take);
    model.on("change:ended", end);
    const leave = followKernel(model, () => this.lose(LOST));
    this.forget = () => {
      leave();
      model.off("msg:custom", take);
      model.off("change:ended", end);
    };
    if (model.get?.("ended")) this.obstacle = ENDED;
    else this.greet();
  }

  greet() {
    this.ask("ping").then(() => {
      Object.assign(this, { isLive: true, obstacle: "" });
      this.liveListeners.forEach((listener) => listener());
    }, () => {});
  }

  /**
   * Python went away: what was asked of it gets no answer any more. It may come back all the same.
   * @param {string} words
   */
  lose(words) {
    if (this.obstacle === words) return;
    Object.assign(this, { isLive: false, obstacle: words });
    this.refuse(words);
    if (words === LOST) this.greet();
    this.lostListeners.forEach((listener) => listener());
  }

  /** @param {string} words */
  refuse(words) {
    const asked = [...this.waiting.values()];
    this.waiting.clear();
    asked.forEach(({ reject }) => reject(new Error(words)));
  }

  /**
   * Calls `listener` whenever Python has answered for the first time; at once if it has.
   * @param {() => void} listener
   */
  onLive(listener) {
    this.liveListeners.push(listener);
    if (this.isLive) listener();
  }

  /**
   * Calls `listener` whenever Python is there no more.
   * @param {() => void} listener
   */
  onLost(listener) {
    this.lostListeners.push(listener);
  }

  /**
   * The answer that was recorded for a question, if there is one.
   * @param {string} name
   * @param {object} args
   */
  recorded(name, args) {
    const key = keyOf(name, args);
    const { model } = this;
    return model?.get?.("recorded")?.[key] ?? model?.get?.("wire")?.recorded?.[key];
  }

  /**
   * @param {string} name
   * @param {object} args
   * @param {(words: string) => void} [onProgress]
   * @param {boolean} [isFresh] whether Python is asked although an answer was recorded
   * @returns {Promise<any>} the result; rejected with an Error whose message is for the reader
   */
  ask(name, args = {}, onProgress = () => {}, isFresh = false) {
    const recorded = isFresh ? undefined : this.recorded(name, args);
    if (recorded !== undefined) return Promise.resolve(recorded);
    const { model, obstacle } = this;
    // A kernel that is lost is greeted all the same.
    if (obstacle && (obstacle !== LOST || name !== "ping")) {
      return Promise.reject(new Error(obstacle));
    }
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onProgress });
      model?.send?.({ kind: "request", id, name, arguments: args });
    });
  }

  /** @param {{"id": number, kind: string, words: string, result: any}} message */
  receive(message) {
    const asked = this.waiting.get(message?.id);
    if (!asked) return;
    if (message.kind === "progress") {
      asked.onProgress(message.words);
      return;
    }
    this.waiting.delete(message.id);
    if (message.kind === "answer") asked.resolve(message.result);
    else asked.reject(new Error(message.words));
  }

  close() {
    this.forget?.();
    Object.assign(this, { isLive: false, obstacle: CLOSED });
    this.refuse(CLOSED);
  }
}
