// Questions to Python, where a kernel is there to answer (see requests.py). Pure but for the model.

/**
 * @typedef {Object} Host what anywidget gives; an exported page's stand-in has no `send`
 * @property {(message: object) => void} [send]
 * @property {(name: string) => any} [get]
 * @property {(event: string, listener: (message: any) => void) => void} on
 * @property {(event: string, listener: (message: any) => void) => void} off
 *
 * @typedef {Object} Asked
 * @property {(result: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {(words: string) => void} onProgress
 */

const LOST = "The kernel that made this explorer has ended: run its cell again.";

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
  /** @param {Host} model */
  constructor(model) {
    this.model = model;
    this.isLive = false;
    this.isLost = false;
    /** @type {Map<number, Asked>} */
    this.waiting = new Map();
    /** @type {(() => void)[]} */
    this.listeners = [];
    this.last = 0;
    if (!model?.send) return;
    /** @param {any} message */
    this.take = (message) => this.receive(message);
    model.on("msg:custom", this.take);
    this.lost = () => this.lose();
    model.on("comm_live_update", this.lost);
    this.greet();
  }

  greet() {
    this.ask("ping").then(() => {
      Object.assign(this, { isLive: true, isLost: false });
      this.listeners.splice(0).forEach((listener) => listener());
    }, () => {});
  }

  /** The kernel went away or came back: what was asked of the old one gets no answer any more. */
  lose() {
    Object.assign(this, { isLive: false, isLost: true });
    this.refuse(LOST);
    this.greet();
  }

  /** @param {string} words */
  refuse(words) {
    const asked = [...this.waiting.values()];
    this.waiting.clear();
    asked.forEach(({ reject }) => reject(new Error(words)));
  }

  /**
   * Calls `listener` once Python has answered for the first time; at once if it has.
   * @param {() => void} listener
   */
  onLive(listener) {
    if (this.isLive) listener();
    else this.listeners.push(listener);
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
    const { model } = this;
    if (!model?.send) {
      return Promise.reject(new Error("No kernel: this page can only show what was recorded."));
    }
    if (this.isLost && name !== "ping") return Promise.reject(new Error(LOST));
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onProgress });
      model.send?.({ kind: "request", id, name, arguments: args });
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
    if (this.take) this.model.off("msg:custom", this.take);
    if (this.lost) this.model.off("comm_live_update", this.lost);
    this.refuse("The explorer was closed.");
  }
}
