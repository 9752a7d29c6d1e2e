// The page of a notebook around its explorers: each is a page in a frame, without an address. That
// of the notebook names the one that was used last, by its number, and the place in it. This module
// is also a script of its own (see script.py): it imports nothing.

const NAME = "explorer";
const SOUND = /^[\w\-.*+%:,=&]{0,4000}$/; // a frame may hold anything: nothing else is written

/**
 * Keeps the address of this page for the explorers in it.
 * @param {string} frames a selector
 * @returns {() => void} ends it
 */
export function followFrames(frames) {
  let last = 0;
  const all = () => /** @type {HTMLIFrameElement[]} */ ([...document.querySelectorAll(frames)]);
  const base = () => location.href.split("#")[0];
  const read = () => {
    const [, number, address] = location.hash.match(/^#explorer=(\d{1,4})&(.*)$/) ?? [];
    return { number: Number(number ?? 0), address: address ?? "" };
  };
  /** @param {number} number @param {object} words */
  const tell = (number, words) => all()[number - 1]?.contentWindow
    ?.postMessage({ svodviz: { base: base(), name: `${NAME}=${number}`, ...words } }, "*");
  /** @param {number} number @param {string} address @param {boolean} isStep */
  const write = (number, address, isStep) => {
    const text = address && `#${NAME}=${number}&${address}`;
    const isOther = last > 0 && number !== last;
    last = number;
    if (text !== location.hash) {
      history[isStep || isOther ? "pushState" : "replaceState"](null, "", base() + text);
    }
  };
  const go = () => {
    const { number, address } = read();
    if (!number && location.hash) return; // a heading of the notebook
    if (number !== last) tell(last, { address: "" });
    last = number;
    if (!all()[number - 1]) return;
    tell(number, { address });
    all()[number - 1].scrollIntoView();
  };
  /** @param {MessageEvent} event */
  const hear = ({ source, data }) => {
    const number = all().findIndex((it) => it.contentWindow === source) + 1;
    const { asks, address, isStep } = data?.svodviz ?? {};
    if (!number) return;
    if (asks && read().number === number) go();
    else if (asks) tell(number, {});
    if (typeof address === "string" && SOUND.test(address)) write(number, address, isStep === true);
  };
  window.addEventListener("message", hear);
  window.addEventListener("hashchange", go);
  return () => {
    window.removeEventListener("message", hear);
    window.removeEventListener("hashchange", go);
  };
}
