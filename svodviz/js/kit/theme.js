// Light or dark: as the notebook says, else as the system says; exported pages have a button, and
// remember what it chose.

import { button } from "./dom.js";
import { keep, kept } from "./kept.js";

const KEY = "svodviz theme";

/**
 * The themes of notebooks: a selector that matches dark ones, and one for light ones.
 * @type {[dark: string, light: string][]}
 */
const SAID = [
  ["body[data-jp-theme-light=false]", "body[data-jp-theme-light=true]"], // JupyterLab, Notebook
  ["body.dark-theme", "body.light-theme"], // marimo
  ["body[data-vscode-theme-kind$=dark], body[data-vscode-theme-kind=vscode-high-contrast]",
    "body[data-vscode-theme-kind]"], // VS Code
  [":not(*)", "body.notebook_app"], // the classic Notebook knows no dark
  ["html[theme=dark]", "html[theme=light]"], // Colab
];
const WATCHED = ["class", "theme", "data-jp-theme-light", "data-vscode-theme-kind"];

/** True if the notebook around is dark; undefined if none says so. */
function isNotebookDark() {
  const holds = (/** @type {string} */ selector) => document.querySelector(selector) !== null;
  const said = SAID.find(([dark, light]) => holds(dark) || holds(light));
  return said && holds(said[0]);
}

/**
 * Follows the surroundings, and is light on paper; `tools` gets a button where the page is ours.
 * @returns {() => void} ends it
 */
export function followTheme(root, tools, onChange) {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = tools && ["dark", "light"].includes(kept(KEY)) ? kept(KEY) : null;
  let toggle = null;
  let isPrinting = false;
  const isDark = () => {
    if (isPrinting) return false;
    if (chosen !== null) return chosen === "dark";
    return isNotebookDark() ?? system.matches;
  };
  const apply = () => {
    root.dataset.theme = isDark() ? "dark" : "light";
    if (toggle) toggle.textContent = isDark() ? "☀ light" : "☾ dark";
    onChange();
  };
  if (tools) {
    toggle = button("", () => {
      chosen = isDark() ? "light" : "dark";
      keep(KEY, chosen);
      apply();
    }, { class: "theme-toggle", title: "Switch between light and dark" });
    tools.append(toggle);
  }
  const observer = new MutationObserver(apply);
  for (const part of [document.documentElement, document.body]) {
    observer.observe(part, { attributes: true, attributeFilter: WATCHED });
  }
  system.addEventListener("change", apply);
  const print = ({ type }) => {
    isPrinting = type === "beforeprint";
    apply();
  };
  for (const kind of ["beforeprint", "afterprint"]) window.addEventListener(kind, print);
  apply();
  return () => {
    observer.disconnect();
    system.removeEventListener("change", apply);
    for (const kind of ["beforeprint", "afterprint"]) window.removeEventListener(kind, print);
  };
}
