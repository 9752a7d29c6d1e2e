// Light or dark: as JupyterLab says, else as the system says; exported pages have a button.

import { button } from "./dom.js";

/**
 * Follows the surroundings, and is light on paper; `tools` gets a button where the page is ours.
 * @returns {() => void} ends it
 */
export function followTheme(root, tools, onChange) {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
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
