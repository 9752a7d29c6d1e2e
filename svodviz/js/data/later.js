// Data that arrive after the page has opened (see later.py): asked for, taken in, and until then
// their stages say what they wait for. Pure but for the model.

import { COMING } from "./model.js";
import { unpacked } from "./packed.js";

const NOT_YET = "This was not compiled yet.";

/**
 * The data arrived of a widget's `later`; null while there is nothing.
 * @param {any} given
 * @returns {Promise<import("./wire.js").Later | null>}
 */
export async function arrived(given) {
  const later = await unpacked(given);
  return later?.stages ? later : null;
}

/** Brings the stages that a page opened without. */
export class Arrival {
  /**
   * @param {{get: (name: string) => any, on: (event: string, listener: () => void) => void,
   *   off: (event: string, listener: () => void) => void}} host
   * @param {import("./store.js").Store} store
   */
  constructor(host, store) {
    this.host = host;
    this.store = store;
    this.requests = store.requests;
    this.first = host.get("later");
    /** @type {Promise<void> | null} */
    this.taking = null;
    /** @type {Partial<import("./wire.js").State>} */
    this.pending = {};
    this.listener = () => { if (this.hasCome) this.taking ??= this.take(); };
    host.on("change:later", this.listener);
    if (!store.model.isWaiting) return;
    if (this.requests.obstacle) this.tell();
    this.requests.onLost(() => this.tell());
    this.requests.onLive(() => this.ask());
  }

  /** Python is asked as well: it may be busy with nothing that would make it come by itself. */
  ask() {
    if (!this.store.model.isWaiting) return;
    this.tell();
    this.requests.ask("arrive").catch((error) => {
      if (!this.requests.obstacle) this.say(`${NOT_YET} ${error.message}`, false);
    });
  }

  /** Says what the stages wait for, or why they wait in vain. */
  tell() {
    const { obstacle } = this.requests;
    this.say(obstacle ? `${NOT_YET} ${obstacle}` : COMING, !obstacle);
  }

  /** @param {string} words @param {boolean} isComing */
  say(words, isComing) {
    const { model } = this.store;
    if (!model.isWaiting || (words === model.waiting && isComing === model.isComing)) return;
    model.wait(words, isComing);
    this.store.set({});
  }

  /** True if data have arrived that are not in the model yet. */
  get hasCome() {
    return this.store.model.isWaiting && this.host.get("later") !== this.first;
  }

  /**
   * Takes over a state that Python has set; one that may name what has come, together with that.
   * @param {Partial<import("./wire.js").State>} state
   */
  adopt(state) {
    if (!this.hasCome) {
      this.store.set(state);
      return;
    }
    this.pending = { ...this.pending, ...state };
    this.listener();
  }

  async take() {
    const later = await arrived(this.host.get("later"));
    if (later) this.store.arrive(later, this.pending);
    else this.store.set(this.pending);
  }

  close() {
    this.host.off("change:later", this.listener);
  }
}
