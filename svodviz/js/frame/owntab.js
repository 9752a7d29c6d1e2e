// In JupyterLab: the same explorer in a tab of its own. It is another view of one widget, so kernel
// and state are one.

import { button, icon } from "../kit/dom.js";

const WAY = "A right click on the output offers it: Create New View for Cell Output";

export class OwnTab {
  /**
   * @param {HTMLElement} root of the explorer
   * @param {string} name of the program
   * @param {(words: string) => void} tell says how to do it by hand where we cannot
   */
  constructor(root, name, tell) {
    Object.assign(this, { root, name, tell, model: null, manager: null });
    this.button = button("", () => this.open(), {
      class: "own-tab", "aria-label": "In a tab of its own", title: "In a tab of its own",
      hidden: true,
    });
    this.button.append(icon("M2 5h9v9H2zM5 5V2h9v9h-3"));
  }

  /** @param model what anywidget gives; its events have the widget's own model */
  know(model) {
    this.given = model;
    this.manager = model.widget_manager;
    requestAnimationFrame(() => this.offer()); // in the page by then
  }

  /** Only a cell of a notebook in JupyterLab has a place for more tabs. */
  offer() {
    const isLab = document.querySelector("#jp-main-dock-panel")?.contains(this.root);
    this.button.hidden = !isLab || this.root.hasAttribute("data-whole")
      || !this.root.closest(".jp-Notebook");
  }

  async open() {
    try {
      const view = await this.manager.create_view(this.widgetModel());
      this.show(view.luminoWidget ?? view.pWidget);
    } catch {
      this.tell(`○ ${WAY}.`);
    }
  }

  /**
   * Puts a view into a tab next to the notebook. It stands in a plain widget: JupyterLab gives that
   * its place, and the view would wipe its own when it takes over the widget's layout.
   */
  show(view) {
    const Widget = rootClass(view.constructor);
    const tab = new Widget();
    tab.addClass("svodviz-tab");
    tab.id = `svodviz-${Date.now()}`;
    Object.assign(tab.title, { label: this.name, closable: true });
    tab.disposed.connect(() => view.dispose());
    this.manager.context.addSibling(tab, { mode: "tab-after" });
    requestAnimationFrame(() => Widget.attach(view, tab.node));
  }

  /** The widget's model behind what anywidget gives us: its events bring it along. */
  widgetModel() {
    let found = null;
    const listen = (itself) => { found = itself; };
    this.given.on("change:tabs", listen);
    this.given.set("tabs", true);
    this.given.off("change:tabs", listen);
    this.given.set("tabs", undefined); // so that nothing of it is saved
    return found;
  }
}

/** The class that all others descend from: of JupyterLab's widgets, the plain one. */
function rootClass(found) {
  const above = Object.getPrototypeOf(found);
  return above.prototype ? rootClass(above) : found;
}
