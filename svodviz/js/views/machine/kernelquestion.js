// A question about one kernel that a button asks: the answer is kept, and exports may have it.

import { button } from "../../kit/dom.js";

export class KernelQuestion {
  /**
   * @param store
   * @param {{request: string, label: string, title: string}} question
   * @param {() => void} onChange called when there is something else to show
   */
  constructor(store, { request, label, title }, onChange) {
    this.store = store;
    this.request = request;
    this.label = label;
    this.onChange = onChange;
    this.known = new Map();
    this.problem = "";
    this.button = button(label, () => this.ask(), { title });
  }

  /** Shows the button where somebody answers; takes what was recorded. Gives the answer. */
  of(kernel) {
    this.kernel = kernel;
    const { requests } = this.store;
    const found = this.known.get(kernel) ?? requests.recorded(this.request, { kernel });
    if (found && !this.known.has(kernel)) this.known.set(kernel, found);
    this.button.hidden = Boolean(found) || !requests.isLive;
    return found && !found.problem ? found : null;
  }

  hide() {
    this.button.hidden = true;
  }

  ask() {
    const { kernel } = this;
    this.button.disabled = true;
    this.problem = "";
    const show = (words) => { this.button.textContent = words; };
    const keep = (answer) => { this.known.set(kernel, answer); };
    this.store.requests.ask(this.request, { kernel }, show)
      .then(keep, (error) => { this.problem = error.message; })
      .then(() => {
        this.button.disabled = false;
        this.button.textContent = this.label;
        this.onChange();
      });
  }

  /** The reason why a kernel has no answer; "" if it has one, or if nobody asked. */
  problemOf(kernel) {
    return this.known.get(kernel)?.problem || this.problem;
  }
}
