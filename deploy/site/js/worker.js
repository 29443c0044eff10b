// Corrects, away from the page, so that typing never waits. It is sent all that it needs, and asks for nothing.
import { Confidence, Trees } from "./confidence.js";
import { Corrector } from "./corrector.js";
import { NGrams } from "./ngrams.js";
import { Network } from "./network.js";
import { readArrays, weightsFile } from "./store.js";
import { Tokenizer } from "./tokenizer.js";
import { Words } from "./words.js";

/** `parts`: bytes by name, as packed.py writes them, with the runtime's module and its program; `known`: of the network; `rules`. */
export async function openCorrector({ parts, known, rules }) {
  const ort = await runtime(parts);
  const weights = { name: known.weights_place, bytes: weightsFile(readArrays(parts.weights), known) };
  const network = await Network.open(ort, { encode: parts.encode, decode: parts.decode }, weights);
  const text = (name) => new TextDecoder().decode(parts[name]);
  const judge = new Confidence(new Words(text("words")), new NGrams(readArrays(parts.ngrams)), new Trees(JSON.parse(text("trees"))));
  return new Corrector(network, new Tokenizer(known.characters), judge, withPatterns(rules), known.config);
}

async function runtime({ runtime_module, runtime_program }) {
  const address = URL.createObjectURL(new Blob([runtime_module], { type: "text/javascript" }));
  const ort = await import(address);
  URL.revokeObjectURL(address);
  Object.assign(ort.env.wasm, { wasmBinary: runtime_program, numThreads: 1, proxy: false });
  ort.env.logLevel = "error";
  return ort;
}

export function withPatterns(rules) {
  const made = Object.entries(rules.patterns).map(([name, { source, flags }]) => [name, new RegExp(source, flags)]);
  return { ...rules, patterns: Object.fromEntries(made) };
}

/** What the page shows of a text: its correction, and the trace of one of its sentences. */
export async function answered(corrector, text, opened = null) {
  const { sentences, restore, ...whole } = await corrector.correct(text);
  const changed = sentences.findIndex(({ changes }) => changes.length);
  const place = opened !== null && opened < sentences.length ? opened : Math.max(changed, 0);
  const shown = sentences[place];
  const isRead = shown && shown.source.length <= corrector.limits.max_length;
  const trace = isRead ? await corrector.trace(shown.source, shown.text, shown.produced, restore) : null;
  const written = (change) => ({ ...change, wrong: restore(change.wrong), right: restore(change.right) });
  return {
    source: restore(whole.source),
    text: restore(whole.text),
    place,
    trace,
    sentences: sentences.map(({ produced, source, text: corrected, proposed, changes, ...rest }) => ({
      ...rest,
      source: restore(source),
      text: restore(corrected),
      proposed: proposed.map(written),
      changes: changes.map(written),
    })),
  };
}

/** Answers messages: {open} once, then {ask, text}. */
export function listen(scope) {
  let opening = null;
  let turn = Promise.resolve();
  scope.onmessage = ({ data }) => {
    if (data.open) opening = openCorrector(data.open);
    const answer = async () => {
      try {
        const corrector = await opening;
        const found = data.open ? {} : await answered(corrector, data.text, data.opened);
        scope.postMessage({ ask: data.ask, found });
      } catch (error) {
        scope.postMessage({ ask: data.ask, error: String(error?.stack ?? error) });
      }
    };
    turn = turn.then(answer);
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) listen(self);
