// Corrects, away from the page, so that typing never waits. It is sent all that it needs, and asks for nothing.
import { Confidence, Trees } from "./confidence.js";
import { Corrector } from "./corrector.js";
import { experiment } from "./experiments.js";
import { NGrams } from "./ngrams.js";
import { Network } from "./network.js";
import { readArrays, weightsFile } from "./store.js";
import { Tokenizer } from "./tokenizer.js";
import { Words } from "./words.js";

/** `parts`: bytes by name, as packed.py writes them, with the runtime's program; `known`: of the network. `ort` is the runtime. */
export async function openCorrector({ parts, known, rules }) {
  Object.assign(ort.env.wasm, { wasmBinary: parts.runtime, numThreads: 1, proxy: false });
  ort.env.logLevel = "error";
  const weights = { name: known.weights_place, bytes: weightsFile(readArrays(parts.weights), known) };
  const network = await Network.open(ort, { encode: parts.encode, decode: parts.decode }, weights, known.config);
  const text = (name) => new TextDecoder().decode(parts[name]);
  const judge = new Confidence(new Words(text("words")), new NGrams(readArrays(parts.ngrams)), new Trees(JSON.parse(text("trees"))));
  return new Corrector(network, new Tokenizer(known.characters), judge, withPatterns(rules), known.config);
}

export function withPatterns(rules) {
  const made = Object.entries(rules.patterns).map(([name, { source, flags }]) => [name, new RegExp(source, flags)]);
  return { ...rules, patterns: Object.fromEntries(made) };
}

/**
 * What the page shows of a text: its correction with a person's decisions, and the trace of one of its sentences; or, where it asks
 * `about` something, what experiments.js answers to that.
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

/** Answers messages in turn: {open} once, then what `answered` takes. An experiment is given up when something newer is asked. */
export function listen(scope) {
  let opening = null;
  let turn = Promise.resolve();
  let latest = null;
  const { port1, port2 } = new MessageChannel();
  const breath = () => new Promise((done) => ((port1.onmessage = done), port2.postMessage(null)));
  scope.onmessage = ({ data }) => {
    latest = data;
    if (data.open) opening = openCorrector(data.open);
    const pause = async () => {
      await breath(); // lets messages in
      if (latest !== data) throw new Outdated();
    };
    turn = turn.then(async () => {
      try {
        const corrector = await opening;
        scope.postMessage(data.open ? { isOpen: true } : { found: await answered(corrector, data, pause) });
      } catch (error) {
        scope.postMessage(error instanceof Outdated ? { isOutdated: true } : { error: String(error?.stack ?? error) });
      }
    });
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) listen(self);
