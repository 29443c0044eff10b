// Corrects, away from the page, so that typing never waits. It is sent all that it needs, and asks for nothing.
import { Confidence, Trees } from "./confidence.js";
import { Corrector } from "./corrector.js";
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
  const network = await Network.open(ort, { encode: parts.encode, decode: parts.decode }, weights);
  const text = (name) => new TextDecoder().decode(parts[name]);
  const judge = new Confidence(new Words(text("words")), new NGrams(readArrays(parts.ngrams)), new Trees(JSON.parse(text("trees"))));
  return new Corrector(network, new Tokenizer(known.characters), judge, withPatterns(rules), known.config);
}

export function withPatterns(rules) {
  const made = Object.entries(rules.patterns).map(([name, { source, flags }]) => [name, new RegExp(source, flags)]);
  return { ...rules, patterns: Object.fromEntries(made) };
}

/** What the page shows of a text: its correction with a person's decisions, and the trace of one of its sentences. */
export async function answered(corrector, { text, opened = null, accepted = [], rejected = [] }) {
  if (corrector.last?.text !== text) corrector.last = { text, found: await corrector.correct(text) };
  const { sentences, ...whole } = corrector.decided(corrector.last.found, accepted, rejected);
  const changed = sentences.findIndex(({ changes }) => changes.length);
  const place = opened !== null && opened < sentences.length ? opened : Math.max(changed, 0);
  const shown = sentences[place];
  const isRead = shown && shown.source.length <= corrector.limits.max_length;
  return {
    ...whole,
    typed: text,
    place,
    trace: isRead ? await corrector.trace(shown.source, shown.text, shown.produced, whole.standIns) : null,
    sentences: sentences.map(({ produced, ...rest }) => rest),
  };
}

/** Answers messages: {open} once, then what `answered` takes. */
export function listen(scope) {
  let opening = null;
  let turn = Promise.resolve();
  scope.onmessage = ({ data }) => {
    if (data.open) opening = openCorrector(data.open);
    turn = turn.then(async () => {
      try {
        const corrector = await opening;
        scope.postMessage({ found: data.open ? null : await answered(corrector, data) });
      } catch (error) {
        scope.postMessage({ error: String(error?.stack ?? error) });
      }
    });
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) listen(self);
