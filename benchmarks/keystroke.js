// Runs in the page before the app does: notes when a key, its sending and its picture happen, in the browser's clock.
// All times are milliseconds of performance.now().
window.watch = (() => {
  let key, typed, sent, written, drawn, before, blocked;
  const paint = (then) => requestAnimationFrame(() => setTimeout(then)); // after the frame has been painted
  const plot = (name) => document.querySelector(`.st-key-${name} .js-plotly-plot`);
  // The corrected text stands in a component of its own, out of reach of the page's selectors.
  const corrected = () =>
    [...document.querySelectorAll(".st-key-correction *")].map((each) => each.shadowRoot?.querySelector(".corrected")).find(Boolean)?.textContent;

  const Original = window.WebSocket;
  window.WebSocket = class extends Original {
    send(data) {
      if (key && !written) sent = performance.now(); // the last time counts: before it the page tells what the network may read ahead
      super.send(data);
    }
  };
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (blocked += entry.duration))).observe({
    type: "longtask",
  });

  // The text that the columns of the heatmap spell, and what the overview looks like; null while one is not drawn.
  function shown(name) {
    const graph = plot(name);
    if (!graph?.querySelector(".heatmaplayer image, .heatmaplayer rect")) return null;
    return name === "overview"
      ? Array.from(graph._fullData[0].z, (row) => Array.from(row).join()).join()
      : graph._fullLayout.xaxis2.ticktext.slice(0, -1).join("");
  }

  function look() {
    if (key && !written && corrected() !== before.text) {
      written = -1;
      paint(() => (written = performance.now()));
    }
    if (!key || drawn || shown("heatmap") !== typed) return;
    if (plot("overview") && [null, before.overview].includes(shown("overview"))) return;
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
      before = { overview: shown("overview"), text: corrected() };
    },
    // Once all is there: when the text was sent, when its correction was painted, and when both pictures were.
    result: () => drawn > 0 && written > 0 && { sent: sent - key, written: written - key, drawn: drawn - key, blocked },
  };
})();
