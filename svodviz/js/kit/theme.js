// Light or dark: as JupyterLab says, else as the system says; exported pages have a button, and
// remember what it chose.

import { button } from "./dom.js";
import { keep, kept } from "./kept.js";

const KEY = "svodviz theme";

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
    const said = document.body.dataset.jpThemeLight;
    return said === undefined ? system.matches : said === "false";
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
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
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
