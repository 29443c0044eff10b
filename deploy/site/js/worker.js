// The two web workers: one prepares weights and word counts, the other corrects and runs experiments.
import { Confidence, countedRuns, NGrams, sortedWords, Trees, Words } from "./confidence.js";
import { Corrector } from "./corrector.js";
import { experiment } from "./experiments.js";
import { reasonOf } from "./kinds.js";
import { Network, Tokenizer } from "./network.js";
import { readArrays, unpackedPart, weightsFile } from "./parts.js";
import { applyChanges, spansOf } from "./text.js";
import * as ort from "onnxruntime-web/wasm";

// --- Long preparations that need no runtime: one worker does them while another one starts the runtime.

const SELDOM = 100; // milliseconds between two messages about how much has come

/** Name of a part -> what is made of its bytes: arrays and texts, which another worker can be given. */
const MAKERS = {
  weights: (bytes, known) => ({ bytes: weightsFile(bytes, known) }),
  ngrams: (bytes) => countedRuns(readArrays(bytes)),
  words: (bytes) => sortedWords(new TextDecoder().decode(bytes)),
};

/** The bytes of a part, as packed.py writes them. `heard` is told now and then how many have come. */
export function unpackers(places, heard) {
  const received = {};
  let told = 0;
  return async (name) => {
    const bytes = await unpackedPart(places[name], (size) => {
      received[name] = size;
      if (performance.now() - told > SELDOM) heard({ ...received }, (told = performance.now()));
    });
    heard({ ...received });
    return bytes;
  };
}

export const parsed = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/** Sends each of MAKERS through the port `to`, one after the other: the weights are waited for first. */
export async function prepare(places, to, heard) {
  const unpacked = unpackers(places, heard);
  const known = parsed(await unpacked("known"));
  for (const [name, make] of Object.entries(MAKERS)) {
    const made = make(await unpacked(name), known);
    const arrays = Object.values(made).filter(ArrayBuffer.isView);
    const transfer = arrays.map(({ buffer }) => buffer);
    to.postMessage([name, made], transfer);
  }
}

/** {name: promise} of the objects that `prepare` sends through the other end of the port. */
export function prepared(from) {
  const done = {};
  const promises = {};
  for (const name of Object.keys(MAKERS)) promises[name] = new Promise((resolve) => (done[name] = resolve));
  from.onmessage = ({ data: [name, made] }) => done[name](made);
  return promises;
}

// --- Correction in a worker, so that typing never waits. It fetches only the parts that it computes with, from
// the addresses in its message.

/** The runtime. Its program is compiled on other threads. */
async function startedRuntime(program) {
  Object.assign(ort.env.wasm, { wasmBinary: program, numThreads: 1, proxy: false });
  ort.env.logLevel = "fatal"; // errors are thrown
  // One byte is no graph, but the program is compiled to find that out.
  await ort.InferenceSession.create(new Uint8Array(1)).catch(() => {});
  delete ort.env.wasm.wasmBinary; // else the runtime would keep its 14 MB
  return ort;
}

/** `unpacked`: name of a part -> promise of its bytes; `made`: promises of the other worker's objects. */
async function openCorrector(unpacked, made) {
  const small = Promise.all(["known", "trees", "encode", "decode"].map(unpacked));
  small.catch(() => {}); // it is awaited below
  const runtime = startedRuntime(await unpacked("runtime"));
  // While the program is being compiled, this thread has time to read its parts.
  await new Promise((done) => setTimeout(done));
  const [known, trees, encode, decode] = await small;
  const { config, characters, rules, weights_place: name } = parsed(known);
  const patterns = withPatterns(rules);
  const weights = { name, ...(await made.weights) };
  const network = await Network.open(await runtime, { encode, decode }, weights, config);
  const [words, ngrams] = [new Words(await made.words), new NGrams(await made.ngrams)];
  const confidence = new Confidence(words, ngrams, new Trees(parsed(trees)));
  return new Corrector(network, new Tokenizer(characters), confidence, patterns, config);
}

/**
 * The rules with their patterns, each compiled: a browser does so at a pattern's first uses, which may take
 * longer than to read a sentence.
 */
export function withPatterns(rules) {
  const patterns = {};
  for (const [name, { source, flags }] of Object.entries(rules.patterns)) {
    patterns[name] = new RegExp(source, flags);
    for (const text of ["가", "나"]) spansOf(patterns[name], text);
  }
  return { ...rules, patterns };
}

/**
 * The page's view of a text: its correction with a person's decisions, and the trace of one of its sentences.
 * If the page asks `about` something, it is the answer of experiments.js.
 */
export async function answered(corrector, wanted, pause) {
  const { text, opened = null, accepted = [], rejected = [], about = null } = wanted;
  if (corrector.last?.text !== text) corrector.last = { text, found: await corrector.correct(text) };
  const { sentences, ...whole } = corrector.decided(corrector.last.found, accepted, rejected);
  const changed = sentences.findIndex(({ changes }) => changes.length);
  const place = opened !== null && opened < sentences.length ? opened : Math.max(changed, 0);
  const shown = sentences[place];
  const isRead = shown && shown.source.length <= corrector.limits.max_length;
  const traced = () => corrector.trace(shown.source, shown.text, shown.produced, whole.substitutes);
  const trace = isRead ? await traced() : null;
  if (about) return { answer: trace && (await experiment(corrector, shown, trace, about, pause)) };
  const reasoned = ({ produced, ...rest }) => {
    const target = applyChanges(rest.source, rest.proposed);
    const reason = (change) => reasonOf(change, rest.source, target, corrector.rules);
    return { ...rest, proposed: rest.proposed.map((each) => ({ ...each, reason: reason(each) })) };
  };
  return { ...whole, typed: text, place, trace, sentences: sentences.map(reasoned) };
}

class Outdated extends Error {}

/**
 * The two workers: one gets `prepare` and ends when that is done; the other opens the network, and then
 * answers, in turn, the arguments of `answered`. An experiment is given up when something newer is asked.
 */
export function listen(scope) {
  let opening = null;
  let turn = Promise.resolve();
  let latest = null;
  const { port1, port2 } = new MessageChannel();
  const breath = () => new Promise((done) => ((port1.onmessage = done), port2.postMessage(null)));
  const heard = (received) => scope.postMessage({ received });
  const failed = (error) => scope.postMessage({ error: `${error}\n${error?.stack}` });
  const tell = async (message) => {
    try {
      scope.postMessage(await message());
    } catch (error) {
      if (error instanceof Outdated) scope.postMessage({ isOutdated: true });
      else failed(error);
    }
  };
  scope.onmessage = ({ data }) => {
    if (data.prepare) return prepare(data.prepare, data.port, heard).then(() => scope.close(), failed);
    if (data.open) opening = openCorrector(unpackers(data.open, heard), prepared(data.port));
    latest = data;
    const pause = async () => {
      await breath(); // lets messages in
      if (latest !== data) throw new Outdated();
    };
    const found = async () => {
      const corrector = await opening;
      return data.open ? { isOpen: true } : { found: await answered(corrector, data, pause) };
    };
    turn = turn.then(() => tell(found));
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) listen(self);
