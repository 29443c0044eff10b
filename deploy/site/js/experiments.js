// The network asked again with something changed, as model/analysis/head_effects.py and methods/occlusion.py.
import { findChanges } from "./changes.js";
import { logSoftmax } from "./drafting.js";
import { attentionToEdit } from "./edits.js";
import { mean, upTo } from "./counting.js";
import { NOTHING } from "./network.js";
import { END_ID, PAD_ID } from "./tokenizer.js";

/**
 * Answers a question about a sentence {source, text, changes} of `corrector`. `about.what` names the question, `about.number` the change.
 * `pause` lets newer questions in, and throws if there is one.
 */
export async function experiment(corrector, sentence, trace, about, pause) {
  const change = sentence.changes.find(({ number }) => number === about.number);
  const asked = { ...about, change, corrector, sentence, trace, pause };
  return { effects, verdict, sources, vectors }[about.what](asked);
}

/** The first row in which fix and typed text differ, with both ids; null where they write the same. */
function contrastOfChange({ tokenizer }, { source, text }, change) {
  const kept = text.slice(0, change.targetStart) + source.slice(change.sourceStart);
  const [written, instead] = [text, kept].map((each) => tokenizer.encodeTarget(each));
  const row = written.findIndex((id, place) => place < instead.length && id !== instead[place]);
  return row < 0 ? null : { row, written: written[row], instead: instead[row] };
}

/** Natural logarithms of the probabilities of both tokens of a contrast. */
async function oddsOf({ network, tokenizer }, { source, text }, { row, written, instead }, changed) {
  const target = tokenizer.encodeTarget(text).slice(0, row + 1);
  const { logits, size } = await network.read(tokenizer.encodeSource(source), target, { ...NOTHING, ...changed });
  const log = logSoftmax({ logits: logits.subarray(row * size), size });
  return { written: log(0, written), instead: log(0, instead) };
}

const logOdds = ({ written, instead }) => written - instead;

/** What each head does for a change: {heads, effect, attention}, kind by kind and layer by layer. */
async function effects({ corrector, sentence, trace, change, pause }) {
  const contrast = contrastOfChange(corrector, sentence, change);
  if (!contrast) return null;
  const [layers, heads] = corrector.network.shape;
  const kinds = Object.keys(trace.attention);
  const all = kinds.flatMap((kind) => upTo(layers * heads).map((tile) => [kind, Math.floor(tile / heads), tile % heads]));
  const observed = logOdds(await oddsOf(corrector, sentence, contrast, {}));
  const effect = [];
  for (const head of all) {
    await pause();
    effect.push(logOdds(await oddsOf(corrector, sentence, contrast, { off: [head] })) - observed);
  }
  const attention = kinds.flatMap((kind) => attentionToEdit(kind, trace.attention[kind], change, sentence.changes).share);
  return { heads: all, effect, attention };
}

/** What becomes of a change with all heads and without those that are `off`: [{text, fix, outcome}] of both. */
async function verdict({ corrector, sentence, change, off }) {
  const contrast = contrastOfChange(corrector, sentence, change);
  if (!contrast) return null;
  const { network, tokenizer } = corrector;
  const found = [];
  for (const heads of [[], off]) {
    const changed = { ...NOTHING, off: heads };
    const produced = await network.produce(tokenizer.encodeSource(sentence.source), tokenizer.encodeTarget(" ")[0], changed);
    const text = produced && tokenizer.decode(produced.ids, sentence.source);
    const { written } = await oddsOf(corrector, sentence, contrast, changed);
    found.push({ text, fix: Math.exp(written), outcome: outcomeOf(sentence.source, text, change) });
  }
  return found;
}

/** Whether `text` makes just this change of `source`, leaves its place as typed, or writes something else there. */
function outcomeOf(source, text, { sourceStart, sourceEnd, right }) {
  if (text === null) return "other";
  const here = findChanges(source, text).filter((each) => each.sourceStart <= sourceEnd && sourceStart <= each.sourceEnd);
  if (!here.length) return "undone";
  return here.some((each) => each.sourceStart === sourceStart && each.sourceEnd === sourceEnd && each.right === right) ? "made" : "other";
}

/** What leaving out each source token, then each token read before, takes from a written one; and where all heads looked on average. */
async function sources({ corrector, sentence, trace, change, row: asked, pause }) {
  const contrast = change ? contrastOfChange(corrector, sentence, change) : await contrastOfRow(corrector, sentence, asked);
  if (!contrast) return null;
  const { row } = contrast;
  const [length, read] = [trace.sourceTokens.length, row + 1];
  const observed = logOdds(await oddsOf(corrector, sentence, contrast, {}));
  const gone = [...upTo(length).map((place) => ({ source: [place] })), ...upTo(read).map((place) => ({ target: [place] }))];
  const lost = [];
  for (const changed of gone) {
    await pause();
    lost.push(observed - logOdds(await oddsOf(corrector, sentence, contrast, changed)));
  }
  const looked = [
    ["cross_attention", length],
    ["decoder_attention", read],
  ].flatMap(([kind, count]) => halfOfMean(trace.attention[kind], row, count));
  return { row, length, lost, looked };
}

/** Half of the mean over all heads of one row, as model/analysis/methods/attention.py. */
function halfOfMean({ values, shape: [layers, heads, rows, columns] }, row, count) {
  return upTo(count).map((column) => mean(upTo(layers * heads).map((tile) => values[(tile * rows + row) * columns + column])) / 2);
}

/** A written token against the likeliest other one. */
async function contrastOfRow({ network, tokenizer }, { source, text }, row) {
  const target = tokenizer.encodeTarget(text).slice(0, row + 1);
  const { logits, size } = await network.read(tokenizer.encodeSource(source), target);
  const written = target[row];
  const instead = upTo(size).reduce((best, id) => (id !== written && (best < 0 || logits[row * size + id] > logits[row * size + best]) ? id : best), -1);
  return { row, written, instead };
}

/** One head's queries, keys and values, (K, D/H) each; with `padding` behind a sentence those of a pass that writes it as it was read. */
async function vectors({ corrector, sentence: { source, text }, kind, layer, head, padding = 0 }) {
  const { network, tokenizer } = corrector;
  const behind = Array(padding).fill(PAD_ID);
  const target = [...tokenizer.encodeTarget(padding ? source : text).slice(0, -1), ...behind, END_ID]; // the end mark is never read
  const found = (await network.vectors([...tokenizer.encodeSource(source), ...behind], target))[kind];
  const one = ({ values, shape: [, heads, count, width] }) => {
    const start = (layer * heads + head) * count * width;
    return upTo(count).map((place) => Array.from(values.subarray(start + place * width, start + (place + 1) * width)));
  };
  return Object.fromEntries(Object.entries(found).map(([part, array]) => [part, one(array)]));
}
