// True if the kernel that made a widget is still there, as far as the notebook says. Pure.

const GONE = ["restarting", "autorestarting", "terminating", "dead"];

/**
 * The kernel as notebooks give it to widgets, besides the interface of anywidget; any part may be
 * missing.
 * @typedef {Object} Kernel
 * @property {string} [status]
 * @property {{connect: (slot: any) => void, disconnect: (slot: any) => void}} [statusChanged]
 *
 * @typedef {Object} Widget
 * @property {{kernel?: Kernel | null}} [widget_manager]
 * @property {(event: string, listener: () => void) => void} on
 * @property {(event: string, listener: () => void) => void} off
 */

/**
 * True if a widget in this element was made by a kernel that still knows it. One that is shown from
 * a saved notebook has the class of a widget without a connection.
 * @param {{classList: {contains: (name: string) => boolean}}} element
 */
export function isConnected(element) {
  return !element.classList.contains("jupyter-widgets-disconnected");
}

/**
 * Calls `lost` when the kernel restarts, crashes or is shut down.
 * @param {Widget} model @param {() => void} lost
 * @returns {() => void} ends it
 */
export function followKernel(model, lost) {
  const signal = model.widget_manager?.kernel?.statusChanged;
  /** @param {any} _ @param {string} status */
  const heed = (_, status) => { if (GONE.includes(status)) lost(); };
  model.on("comm_live_update", lost);
  signal?.connect(heed);
  return () => {
    model.off("comm_live_update", lost);
    signal?.disconnect(heed);
  };
}
