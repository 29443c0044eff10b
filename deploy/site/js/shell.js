// Fetches or unpacks what the page is made of. `window.part(name)` gives the bytes of a part of PARTS.
import { inflated, unpackedPart } from "./unpacking.js";

window.components = {}; // name of a script -> the function that it exports
window.register = (name) => (draw) => (window.components[name] = draw);

/** What Python packed with zlib and base64. */
window.unpacked = (text) => inflated(new Blob([Uint8Array.from(atob(text), (character) => character.charCodeAt(0))]).stream());

/** Where a part is: at an address, or in the page, from which it is taken. */
function placeOf(name) {
  const held = document.getElementById(`part-${name}`);
  if (!held) return { address: new URL(PARTS[name].file, document.baseURI).href };
  const text = held.textContent;
  held.remove(); // it would be kept twice
  return { text, spelling: SPELLING };
}

const parts = {};
window.part = (name) => (parts[name] ??= unpackedPart(placeOf(name)));
window.sizeOf = (names) => names.reduce((sum, name) => sum + PARTS[name].size, 0);

/**
 * {workers, early}: the worker that corrects and the one that prepares for it, and what they have said so far. While the page is still
 * being made, they fetch and unpack. They are made of a text of the page, so that they obey the page's policy.
 */
window.begunWorkers = (async () => {
  const script = await window.part("worker");
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const early = [];
  const workers = [new Worker(address), new Worker(address)];
  for (const worker of workers) {
    worker.onmessage = ({ data }) => early.push(data);
    worker.onerror = ({ message }) => early.push({ error: message || "the worker could not start" });
  }
  const { port1, port2 } = new MessageChannel();
  const places = Object.fromEntries(COMPUTED_WITH.map((name) => [name, placeOf(name)]));
  const of = (names) => Object.fromEntries(names.map((name) => [name, places[name]]));
  workers[0].postMessage({ parts: of(OPENED_WITH), from: port1 }, [port1]);
  workers[1].postMessage({ prepare: of(PREPARED), to: port2 }, [port2]);
  return { workers, early };
})();
window.begunWorkers.catch(() => {}); // the page tells it

// plot.js waits for this instead of fetching a file.
window.attentionPlotly = (async () => {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await window.part("library"));
  document.head.append(script);
  return window.Plotly;
})();
