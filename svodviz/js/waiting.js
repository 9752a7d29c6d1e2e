// Stands for the views of a stage that has not arrived yet: says what it waits for.

import { h } from "./dom.js";

export class WaitingView {
  constructor(store) {
    this.store = store;
    this.root = h("p", { class: "empty waiting", role: "status" });
  }

  show() {
    this.root.textContent = this.store.model.waiting;
  }

  status() {
    return "";
  }

  search() {
    return [];
  }

  visit() {}
}
