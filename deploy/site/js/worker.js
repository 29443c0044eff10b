// Corrects, away from the page, so that typing never waits. It fetches nothing but the parts that it computes with, from places that it is told.
import { Confidence, Trees } from "./confidence.js";
import { Corrector } from "./corrector.js";
import { experiment } from "./experiments.js";
import { NGrams } from "./ngrams.js";
import { Network } from "./network.js";
import { readArrays, weightsFile } from "./store.js";
import { Tokenizer } from "./tokenizer.js";
import { unpackedPart } from "./unpacking.js";
import { Words } from "./words.js";

const SELDOM = 100; // milliseconds between two messages about how much has come

/** A promise of the bytes of each part, as packed.py writes them. `heard` is told now and then how many have come of which. */
function unpackedParts(places, heard) {
  const received = {};
  let told = 0;
  const begin = ([name, place]) => {
    const bytes = unpackedPart(place, (size) => {
      received[name] = size;
      if (performance.now() - told > SELDOM) heard({ ...received }, (told = performance.now()));
    });
    bytes.then(() => heard({ ...received })).catch(() => {}); // whoever awaits the part gets the error
    return [name, bytes];
  };
  return Object.fromEntries(Object.entries(places).map(begin));
}

/** The runtime, whose program is compiled while the weights are on their way. */
async function startedRuntime(program) {
  Object.assign(ort.env.wasm, { wasmBinary: await program, numThreads: 1, proxy: false });
  ort.env.logLevel = "fatal"; // what goes wrong is thrown
  await ort.InferenceSession.create(new Uint8Array(1)).catch(() => {}); // one byte is no graph, but the program is compiled to find that out
  delete ort.env.wasm.wasmBinary; // else the runtime would keep its 14 MB
  return ort;
}

/** `parts`: promises of their bytes, and of the started runtime; `known`: of the network. */
export async function openCorrector({ parts, known, rules }) {
  const text = async (name) => new TextDecoder().decode(await parts[name]);
  const judging = async () => new Confidence(new Words(await text("words")), new NGrams(readArrays(await parts.ngrams)), new Trees(JSON.parse(await text("trees"))));
  const computing = async () => {
    const weights = { name: known.weights_place, bytes: weightsFile(readArrays(await parts.weights), known) };
    return Network.open(await parts.runtime, { encode: await parts.encode, decode: await parts.decode }, weights, known.config);
  };
  const [network, confidence] = await Promise.all([computing(), judging()]);
  return new Corrector(network, new Tokenizer(known.characters), confidence, withPatterns(rules), known.config);
}

export function withPatterns(rules) {
  const made = Object.entries(rules.patterns).map(([name, { source, flags }]) => [name, new RegExp(source, flags)]);
  return { ...rules, patterns: Object.fromEntries(made) };
}

/**
 * What the page shows of a text: its correction with a person's decisions, and the trace of one of its sentences. If the page asks
 * `about` something, it is what experiments.js answers.
 */
export async function answered(corrector, { text, opened = null, accepted = [], rejected = [], about = null }, pause) {
  if (corrector.last?.text !== text) corrector.last = { text, found: await corrector.correct(text) };
  const { sentences, ...whole } = corrector.decided(corrector.last.found, accepted, rejected);
  const changed = sentences.findIndex(({ changes }) => changes.length);
  const place = opened !== null && opened < sentences.length ? opened : Math.max(changed, 0);
  const shown = sentences[place];
  const isRead = shown && shown.source.length <= corrector.limits.max_length;
  const trace = isRead ? await corrector.trace(shown.source, shown.text, shown.produced, whole.substitutes) : null;
  if (about) return { answer: trace && (await experiment(corrector, shown, trace, about, pause)) };
  return { ...whole, typed: text, place, trace, sentences: sentences.map(({ produced, ...rest }) => rest) };
}

class Outdated extends Error {}

/** Answers messages in turn: {parts} and {open} once, then what `answered` takes. An experiment is given up when something newer is asked. */
export function listen(scope) {
  let parts = null;
  let opening = null;
  let turn = Promise.resolve();
  let latest = null;
  const { port1, port2 } = new MessageChannel();
  const breath = () => new Promise((done) => ((port1.onmessage = done), port2.postMessage(null)));
  const begin = (places) => {
    parts = unpackedParts(places, (received) => scope.postMessage({ received }));
    parts.runtime = startedRuntime(parts.runtime);
    parts.runtime.catch(() => {});
  };
  scope.onmessage = ({ data }) => {
    if (data.parts) return begin(data.parts);
    latest = data;
    if (data.open) {
      opening = openCorrector({ parts, ...data.open });
      parts = null; // what was unpacked is not kept
    }
    const pause = async () => {
      await breath(); // lets messages in
      if (latest !== data) throw new Outdated();
    };
    turn = turn.then(async () => {
      try {
        const corrector = await opening;
        scope.postMessage(data.open ? { isOpen: true } : { found: await answered(corrector, data, pause) });
      } catch (error) {
        scope.postMessage(error instanceof Outdated ? { isOutdated: true } : { error: `${error}\n${error?.stack}` });
      }
    });
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) listen(self);
