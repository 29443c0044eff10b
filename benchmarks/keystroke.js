// Timer of keystroke.py in the page: the times of a key, of its sending and of its picture.
// It runs before the app does. All times are milliseconds of performance.now().
window.watch = (() => {
  let key, typed, sent, written, drawn, before, blocked;
  const paint = (then) => requestAnimationFrame(() => setTimeout(then)); // after the frame has been painted
  const plot = (name) => document.querySelector(`.st-key-${name} .js-plotly-plot`);
  // The corrected text stands in a component of its own, out of reach of the page's selectors.
  const corrected = () =>
    [...document.querySelectorAll(".st-key-correction *")]
      .map((each) => each.shadowRoot?.querySelector(".corrected"))
      .find(Boolean)?.textContent;

  const Original = window.WebSocket;
  window.WebSocket = class extends Original {
    send(data) {
      // The last time counts: before it the page tells what the network may read ahead.
      if (key && !written) sent = performance.now();
      super.send(data);
    }
  };
  new PerformanceObserver((list) =>
    list.getEntries().forEach((entry) => (blocked += entry.duration)),
  ).observe({ type: "longtask" });

  // The cells of the overview are painted on a canvas beneath its figure (viz/browser/plot_cells.js).
  let painted = 0;
  const { putImageData } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.putImageData = function (...given) {
    if (this.canvas.className === "cells") painted += 1;
    return putImageData.apply(this, given);
  };

  // The text that the columns of the heatmap spell; null while it is not drawn.
  function spelled() {
    const graph = plot("heatmap");
    return graph?.querySelector(".heatmaplayer image, .heatmaplayer rect")
      ? graph._fullLayout.xaxis2.ticktext.slice(0, -1).join("")
      : null;
  }

  function look() {
    if (key && !written && corrected() !== before.text) {
      written = -1;
      paint(() => (written = performance.now()));
    }
    if (!key || drawn || spelled() !== typed) return;
    if (plot("overview") && painted === before.painted) return;
    drawn = -1;
    paint(() => (drawn = performance.now()));
  }

  addEventListener(
    "input",
    (event) => {
      key ||= performance.now();
      typed = event.composedPath()[0].value.replaceAll(" ", "␣");
    },
    true,
  );
  addEventListener("DOMContentLoaded", () => {
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true });
    // What changes inside a component's own tree reaches no observer of the page.
    const watchFrames = () => (look(), requestAnimationFrame(watchFrames));
    watchFrames();
  });

  return {
    start() {
      [key, sent, written, drawn, blocked] = [0, 0, 0, 0, 0];
      before = { painted, text: corrected() };
    },
    // Once all is there: when the text was sent, when its correction was painted, and when both pictures
    // were.
    result: () =>
      drawn > 0 && written > 0 && { sent: sent - key, written: written - key, drawn: drawn - key, blocked },
  };
})();
