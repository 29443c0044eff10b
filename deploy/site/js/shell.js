// Loader of the page's packed parts and scripts, fetched or taken from the page.
// `window.part(name)` gives the bytes of a part of PARTS.
import { inflated, unpackedPart } from "./parts.js";

window.components = {}; // name of a script -> the function that it exports
window.register = (name) => (draw) => (window.components[name] = draw);

/** Bytes packed by Python with zlib and base64. */
window.unpacked = (text) =>
  inflated(new Blob([Uint8Array.from(atob(text), (character) => character.charCodeAt(0))]).stream());

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

/** The address of the worker. It is made of a text of the page, so that it obeys the page's policy, except in
 * an extension, whose policy holds for its files. */
const addressOf = async () =>
  SCRIPTS.worker ?? URL.createObjectURL(new Blob([await window.part("worker")], { type: "text/javascript" }));

/**
 * {worker, prepare, listen}: the worker that corrects; a function that has a second one prepare for it; and
 * one that is given a listener to their messages, past and future.
 *
 * At a first visit the library comes before their parts, since the stored example is drawn with it. Where
 * everything is on this device already, they start at once: a worker hears nothing while the page is drawing,
 * even if that was sent before.
 */
window.begunWorker = (async () => {
  const isHere = !PARTS.library?.size || navigator.serviceWorker?.controller;
  const [address] = await Promise.all([addressOf(), isHere || window.part("library")]);
  const early = [];
  let hear = (data) => early.push(data);
  const begun = () => {
    const worker = new Worker(address);
    worker.onmessage = ({ data }) => hear(data);
    worker.onerror = ({ message }) => hear({ error: message || "the worker could not start" });
    return worker;
  };
  const { port1, port2 } = new MessageChannel();
  let places = Object.fromEntries(COMPUTED_WITH.map((name) => [name, placeOf(name)]));
  const of = (names) => Object.fromEntries(names.map((name) => [name, places[name]]));
  const worker = begun();
  worker.postMessage({ open: of(OPENED_WITH), port: port1 }, [port1]);
  const second = begun();
  const prepare = () => {
    second.postMessage({ prepare: of(PREPARED), port: port2 }, [port2]);
    places = null; // those of the one file are long texts
  };
  const listen = (listener) => {
    hear = listener;
    early.forEach((data) => hear(data));
  };
  return { worker, prepare, listen };
})();
window.begunWorker.catch(() => {}); // the page tells it

// plot.js waits for this instead of fetching a file. A page that draws nothing has neither.
window.attentionPlotly = (async () => {
  if (SCRIPTS.library) await import(new URL(SCRIPTS.library, document.baseURI));
  else if (PARTS.library) {
    const script = document.createElement("script");
    script.textContent = new TextDecoder().decode(await window.part("library"));
    document.head.append(script);
  }
  return window.Plotly;
})();
