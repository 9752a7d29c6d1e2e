// The explorer in the full window, and back.

/**
 * In a notebook it goes to the top layer, where no ancestor cuts or moves it; it stays where it is
 * in the document, so that nothing is drawn anew. A page of its own fills its window already: there
 * it takes the whole screen, where the browser allows that.
 */
export class WholePage {
  /** @param {HTMLElement} root @param {boolean} fullPage @param {() => void} onChange */
  constructor(root, fullPage, onChange) {
    Object.assign(this, { root, onChange });
    const mayFill = Boolean(document.fullscreenEnabled && root.requestFullscreen);
    this.isPossible = fullPage ? mayFill : Boolean(root.showPopover);
    this.isScreen = fullPage;
    this.listener = () => this.mark(document.fullscreenElement === root);
    if (fullPage) document.addEventListener("fullscreenchange", this.listener);
  }

  /** As the browser has it: its event, and with it the mark, come a frame later. */
  get isOn() {
    if (this.isScreen) return document.fullscreenElement === this.root;
    return this.root.hasAttribute("data-whole");
  }

  toggle() {
    if (!this.isPossible) return;
    if (this.isOn) this.leave();
    else this.enter();
  }

  enter() {
    if (this.isScreen) {
      this.root.requestFullscreen().catch(() => {}); // refused: it stays as large as it is
      return;
    }
    this.root.popover = "manual";
    this.root.showPopover();
    this.mark(true);
  }

  leave() {
    if (this.isScreen) {
      if (document.fullscreenElement) document.exitFullscreen();
      return;
    }
    this.root.hidePopover();
    this.root.popover = null;
    this.mark(false);
  }

  mark(isOn) {
    this.root.toggleAttribute("data-whole", isOn);
    this.root.focus({ preventScroll: true });
    this.onChange();
  }

  close() {
    document.removeEventListener("fullscreenchange", this.listener);
  }
}
