// Runs in the page before the app does: notes when a key, its sending and its picture happen, in the browser's clock.
// All times are milliseconds of performance.now().
window.watch = (() => {
  let key, typed, sent, drawn, before, blocked;
  const paint = (then) => requestAnimationFrame(() => setTimeout(then)); // after the frame has been painted
  const plot = (name) => document.querySelector(`[class*="st-key-${name}_"] .js-plotly-plot`);

  const Original = window.WebSocket;
  window.WebSocket = class extends Original {
    send(data) {
      if (key && !sent) sent = performance.now();
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
    if (!key || drawn || shown("heatmap") !== typed) return;
    if (plot("overview") && [null, before].includes(shown("overview"))) return;
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
  });

  return {
    start() {
      [key, sent, drawn, blocked, before] = [0, 0, 0, 0, shown("overview")];
    },
    // Once the picture is there: when the text was sent and when all was painted, after the key.
    result: () => drawn > 0 && { sent: sent - key, drawn: drawn - key, blocked },
  };
})();
