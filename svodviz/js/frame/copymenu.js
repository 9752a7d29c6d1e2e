// The menu of what can be copied or saved: from the tool bar, or at the pointer.

import { copyText } from "../kit/clipboard.js";
import { button, h, icon } from "../kit/dom.js";
import { copiesOf } from "./copies.js";

const EDGE = 8; // pixels between the menu and the edge of the explorer
const NATIVE = "input, textarea, select, a[href], .copy-menu"; // these have menus of the browser
const BY_HAND = "This page cannot copy by itself. The text is selected: press Ctrl+C.";

export class CopyMenu {
  /** @param explorer @param {(words: string) => void} say */
  constructor(explorer, say) {
    Object.assign(this, { explorer, say });
    this.root = h("div", {
      class: "copy-menu", role: "menu", "aria-label": "Copy or save", tabindex: "-1", hidden: true,
      onkeydown: (event) => this.key(event),
      onfocusout: ({ relatedTarget }) => {
        if (relatedTarget && !this.root.contains(relatedTarget)) this.root.hidden = true;
      },
    });
    this.button = button("", () => this.openAt(this.button), {
      class: "copy-button", "aria-label": "Copy or save", title: "Copy or save (right click)",
      "aria-haspopup": "menu",
    });
    this.button.append(icon("M6 5h8v9H6zM3 11V2h8"));
    explorer.root.addEventListener("contextmenu", (event) => this.point(event));
    explorer.root.addEventListener("pointerdown", ({ target }) => {
      if (this.isOpen && !this.root.contains(target)) this.root.hidden = true;
    });
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** A right click into the view; with Shift, or over marked text, it is the browser's own. */
  point(event) {
    const { target, shiftKey, clientX, clientY, button: pressed } = event;
    const isKey = pressed < 1; // the menu key, or Shift+F10: at what has the focus
    if (!this.explorer.pane.contains(target) || target.closest(NATIVE)) return;
    if (!isKey && (shiftKey || String(window.getSelection?.() || ""))) return;
    event.preventDefault();
    event.stopPropagation();
    this.open(target, clientX, clientY);
  }

  openAt(element) {
    const { left, bottom } = element.isConnected && element.offsetWidth
      ? element.getBoundingClientRect() : this.explorer.bar.root.getBoundingClientRect();
    this.open(null, left, bottom + 4);
  }

  open(target, x, y) {
    this.opener = document.activeElement;
    this.fill(copiesOf(this.explorer, target));
    this.root.hidden = false;
    const area = this.explorer.root.getBoundingClientRect();
    const place = (at, from, size, room) => Math.max(EDGE, Math.min(at - from, room - size - EDGE));
    this.root.style.left = `${place(x, area.left, this.root.offsetWidth, area.width)}px`;
    this.root.style.top = `${place(y, area.top, this.root.offsetHeight, area.height)}px`;
    (this.items[0] ?? this.root).focus();
  }

  get items() {
    return [...this.root.querySelectorAll("button")];
  }

  fill(sections) {
    const isLive = this.explorer.address === null;
    const where = isLive ? "program = explorer.compilation" : "program = explore(x).compilation";
    this.root.replaceChildren(...sections.map(({ title, code, items }) =>
      h("div", { class: "copy-section", role: "group", "aria-label": title },
        h("span", { class: "copy-title" }, title,
          code && h("code", { title: where }, code)),
        ...items.map((item) => button(item.label, () => this.run(title, item), {
          role: "menuitem", tabindex: "-1", "aria-label": `${title}: ${item.label}` })))));
  }

  async run(title, { text, save }) {
    try {
      if (save) {
        this.close();
        this.say(await save());
      } else if (await copyText(text(), this.root)) {
        this.close();
        this.say(`copied: ${title}`);
      } else {
        this.byHand(text());
      }
    } catch (error) {
      this.close();
      this.say(`not possible: ${error.message}`);
    }
  }

  /** A text that the page may not copy: the reader selects and copies it. */
  byHand(text) {
    const field = h("textarea", { readonly: true, rows: 8, "aria-label": BY_HAND });
    field.value = text;
    this.root.replaceChildren(h("p", {}, BY_HAND), field);
    field.select();
  }

  key(event) {
    const { items } = this;
    const at = items.indexOf(document.activeElement);
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    const to = { Home: 0, End: items.length - 1 }[event.key]
      ?? (steps[event.key] ? (at + steps[event.key] + items.length) % items.length : -1);
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") this.close();
    else if (at >= 0 && to >= 0) items[to].focus();
    else return;
    event.preventDefault();
  }

  /** Closes it; the focus is where it was. */
  close() {
    if (!this.isOpen) return;
    this.root.hidden = true;
    const { opener } = this;
    (opener?.isConnected && opener !== document.body ? opener : this.explorer.root)
      .focus({ preventScroll: true });
  }
}
