// The address of an exported page follows its reader, and leads others to the same place.

import { addressOf, placeOf } from "../data/address.js";

const REST = 300; // milliseconds without a move: browsers take few changes of an address a second

/**
 * The place of an address.
 * @typedef {Object} Bar
 * @property {() => string} read what stands behind its #
 * @property {(address: string, isStep: boolean) => void} write a step is one that "back" undoes
 * @property {(address: string) => string} link the whole of it
 * @property {(listener: (address: string) => void) => () => void} follow calls `listener` with
 *   addresses that the reader went to
 */

/** @returns {Bar} that of a page of its own */
function ownBar() {
  const read = () => location.hash.slice(1);
  const link = (/** @type {string} */ address) =>
    location.href.split("#")[0] + (address && `#${address}`);
  return {
    read, link,
    write: (address, isStep) => {
      if (address === read()) return;
      history[isStep ? "pushState" : "replaceState"](null, "", link(address));
    },
    follow: (listener) => {
      const hear = () => listener(read());
      window.addEventListener("hashchange", hear);
      return () => window.removeEventListener("hashchange", hear);
    },
  };
}

/**
 * A page inside that of a notebook has no address: the page around it keeps one for all of them.
 * @returns {Bar}
 */
function framedBar() {
  let around = { base: "", name: "" };
  const tell = (/** @type {object} */ words) => window.parent.postMessage({ svodviz: words }, "*");
  return {
    read: () => "",
    write: (address, isStep) => tell({ address, isStep }),
    link: (address) => (around.base ? `${around.base}#${around.name}&${address}` : ""),
    follow: (listener) => {
      const hear = (/** @type {MessageEvent} */ { source, data }) => {
        const { base, name, address } = data?.svodviz ?? {};
        if (source !== window.parent) return;
        if (typeof base === "string" && typeof name === "string") around = { base, name };
        if (typeof address === "string") listener(address);
      };
      window.addEventListener("message", hear);
      tell({ asks: true });
      return () => window.removeEventListener("message", hear);
    },
  };
}

export class Address {
  /**
   * @param {import("../data/store.js").Store} store
   * @param {HTMLInputElement} field what is searched for
   * @param {() => void} search begins to search for what is in it
   */
  constructor(store, field, search) {
    Object.assign(this, { store, field, search });
    this.bar = location.protocol === "about:" ? framedBar() : ownBar();
    this.opening = addressOf(store, field.value);
    this.opened = { state: { ...store.state }, search: field.value };
    this.stage = store.state.stage;
    this.written = "";
    this.note = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.write(), REST);
    };
  }

  /** Goes to the place that the address names, and follows the reader from then on. */
  begin() {
    const first = this.bar.read();
    if (first) this.go(first);
    this.leave = this.bar.follow((address) => this.go(address));
    this.store.subscribe(this.note);
    this.field.addEventListener("input", this.note);
  }

  /** The place on screen; "" for that at which the page opens. */
  get text() {
    const address = addressOf(this.store, this.field.value);
    return address === this.opening ? "" : address;
  }

  /** An address that leads here; "" where that is not known. */
  get link() {
    return this.bar.link(this.text);
  }

  /** Shows the place that an address names; one that names none changes nothing. */
  go(address) {
    const place = address ? placeOf(address, this.store) : this.opened;
    if (!place) return;
    this.field.value = place.search;
    this.store.set(place.state);
    this.search();
    clearTimeout(this.timer);
    Object.assign(this, { written: this.text, stage: this.store.state.stage });
  }

  write() {
    const { text } = this;
    const { stage } = this.store.state;
    if (text === this.written) return;
    const isStep = stage !== this.stage;
    Object.assign(this, { written: text, stage });
    this.bar.write(text, isStep);
  }

  close() {
    clearTimeout(this.timer);
    this.leave?.();
    this.field.removeEventListener("input", this.note);
  }
}
