// Experiments: head ablation, occlusion, attention to an edit; ports of model/analysis/.
import { END_ID, likeliest, logSoftmax, PAD_ID } from "./network.js";
import { between, largestFirst, mean, sum, upTo } from "./numbers.js";
import { findChanges, isSameChange, meet } from "./text.js";

// --- The rows and columns of a change, and how much heads attend to them; as model/analysis/edits.py.

/** {rows, columns} of one kind of attention with so many columns. */
export function focusOf(kind, { sourceStart, sourceEnd, targetStart, targetEnd }, count) {
  // A deletion shows in the row that follows.
  const written = between(targetStart, Math.max(targetEnd, targetStart + 1));
  if (kind === "decoder_attention") return { rows: written, columns: written };
  const beside = between(sourceStart - 1, sourceEnd + 1).filter((column) => column >= 0 && column < count);
  const replaced = sourceStart === sourceEnd ? beside : between(sourceStart, sourceEnd);
  return kind === "cross_attention"
    ? { rows: written, columns: replaced }
    : { rows: replaced, columns: beside };
}

/** The query at the character in question of a change, among `rows` of them. */
export function askedRow(kind, change, rows) {
  const [typed, fixed] = mistakeOf(change);
  const place = kind === "encoder_attention" ? change.sourceStart + typed : change.targetStart + fixed;
  return Math.min(place, rows - 1);
}

/**
 * {share, usual}: of each head, layer by layer, how much it looks at a change from the character in question,
 * and how much at such places where nothing is changed.
 */
export function attentionToEdit(kind, map, change, changes) {
  const [layers, heads, rows, columns] = map.shape;
  const tiles = upTo(layers * heads);
  const seen = (row, places) =>
    tiles.map((tile) => sum(places.map((column) => rowOf(map, tile, row)[column])));
  const standing = standingPlaces(kind, changes, rows);
  const concerned = new Set(changes.flatMap((each) => focusOf(kind, each, columns).rows));
  const others = upTo(rows).filter((row) => !concerned.has(row));
  const row = askedRow(kind, change, rows);
  const counted = focusOf(kind, change, columns).columns.filter((column) =>
    kind === "encoder_attention" ? column !== row : kind === "cross_attention" || column <= row,
  );
  const share = seen(row, counted);
  const seesNothingElse = kind === "decoder_attention" && counted.length === row + 1;
  if (seesNothingElse) return { share, usual: share };
  const beside = (other) => counted.map((column) => standing[other] + column - standing[row]);
  const windows = others.map((other) => [other, beside(other)]);
  const fitting = windows.filter(([, places]) => places.every((place) => place >= 0 && place < columns));
  const usuals = fitting.map(([other, places]) => seen(other, places));
  return { share, usual: usuals.length ? meanOver(usuals) : tiles.map(() => 0) };
}

/** (K) the weights of one row of a head, which are counted layer by layer. */
function rowOf({ values, shape: [, , rows, columns] }, head, row) {
  return values.subarray((head * rows + row) * columns, (head * rows + row + 1) * columns);
}

const meanOver = (lists) => lists[0].map((_, i) => mean(lists.map((each) => each[i])));

/** Where each row stands among its keys: in cross-attention where a plain copy would look. */
function standingPlaces(kind, changes, rows) {
  const places = upTo(rows);
  if (kind !== "cross_attention") return places;
  for (const { sourceStart, sourceEnd, targetStart, targetEnd, wrong, right } of changes) {
    for (let row = targetEnd; row < rows; row += 1) places[row] = row - targetEnd + sourceEnd;
    const paired = Math.min(wrong.length, right.length);
    for (let row = targetStart; row < targetEnd; row += 1)
      places[row] = row - targetStart < paired ? sourceStart + row - targetStart : sourceEnd;
  }
  return places;
}

/** [{layer, head, share, usual}]: the heads that attend to a change most beyond their usual share. */
export function leadingHeads(cross, change, changes, count = 3) {
  const { share, usual } = attentionToEdit("cross_attention", cross, change, changes);
  const heads = cross.shape[1];
  const order = largestFirst(share.map((one, tile) => one - usual[tile])).slice(0, count);
  const place = (tile) => ({ layer: Math.floor(tile / heads), head: tile % heads });
  return order.map((tile) => ({ ...place(tile), share: share[tile], usual: usual[tile] }));
}

/** Where one head looks while the character in question of a change is written. */
export function attentionOfChange(map, { layer, head }, change) {
  const row = askedRow("cross_attention", change, map.shape[2]);
  return Array.from(rowOf(map, layer * map.shape[1] + head, row));
}

// --- Ablation and occlusion, as model/analysis/head_effects.py and attribution_methods.py.

/**
 * Answers a question about a sentence {source, text, changes} of `corrector`. `about.what` names the
 * question, `about.number` the change. `pause` lets newer questions in, and throws if there is one.
 */
export async function experiment(corrector, sentence, trace, about, pause) {
  const change = sentence.changes.find(({ number }) => number === about.number);
  const asked = { ...about, change, corrector, sentence, trace, pause };
  return { effects, verdict, sources, vectors }[about.what](asked);
}

/** The places of the first character that carries the mistake, as Change.mistake of model/text/changes.py. */
export function mistakeOf({ wrong, right }) {
  let [i, j] = [0, 0];
  while (i < wrong.length && j < right.length) {
    if (wrong[i] === right[j]) [i, j] = [i + 1, j + 1];
    else if (!right[j].trim()) j += 1;
    else if (!wrong[i].trim()) i += 1;
    else return [i, j];
  }
  return (wrong.slice(i) + right.slice(j)).trim() ? [i, j] : [0, 0];
}

/**
 * The first row in which fix and typed text differ, from the character that carries the mistake, with both
 * ids; null where they write the same.
 */
function contrastOfChange({ tokenizer }, { source, text }, change) {
  const [typed, fixed] = mistakeOf(change);
  const kept = text.slice(0, change.targetStart + fixed) + source.slice(change.sourceStart + typed);
  const [written, instead] = [text, kept].map((each) => tokenizer.encodeTarget(each));
  const row = written.findIndex((id, place) => place < instead.length && id !== instead[place]);
  return row < 0 ? null : { row, written: written[row], instead: instead[row] };
}

/** Natural logarithms of the probabilities of both tokens of a contrast. */
async function oddsOf({ network, tokenizer }, { source, text }, { row, written, instead }, changed) {
  const target = tokenizer.encodeTarget(text).slice(0, row + 1);
  const { logits, size } = await network.read(tokenizer.encodeSource(source), target, changed);
  const log = logSoftmax({ logits: logits.subarray(row * size), size });
  return { written: log(0, written), instead: log(0, instead) };
}

const logOdds = ({ written, instead }) => written - instead;

/** The effect of each head on a change: {heads, effect, attention}, kind by kind and layer by layer. */
async function effects({ corrector, sentence, trace, change, pause }) {
  const contrast = contrastOfChange(corrector, sentence, change);
  if (!contrast) return null;
  const [layers, heads] = corrector.network.shape;
  const kinds = Object.keys(trace.attention);
  const all = kinds.flatMap((kind) =>
    upTo(layers * heads).map((tile) => [kind, Math.floor(tile / heads), tile % heads]),
  );
  const observed = logOdds(await oddsOf(corrector, sentence, contrast, {}));
  const effect = [];
  for (const head of all) {
    await pause();
    effect.push(logOdds(await oddsOf(corrector, sentence, contrast, { off: [head] })) - observed);
  }
  const shares = (kind) => attentionToEdit(kind, trace.attention[kind], change, sentence.changes).share;
  return { heads: all, effect, attention: kinds.flatMap(shares) };
}

/** A change with all heads and without those that are `off`: [{text, fix, outcome}] of both. */
async function verdict({ corrector, sentence, change, off }) {
  const contrast = contrastOfChange(corrector, sentence, change);
  if (!contrast) return null;
  const { source } = sentence;
  const found = [];
  for (const changed of [{}, { off }]) {
    const produced = await corrector.produce(source, changed);
    const text = produced && corrector.tokenizer.decode(produced.ids, source);
    const { written } = await oddsOf(corrector, sentence, contrast, changed);
    found.push({ text, fix: Math.exp(written), outcome: outcomeOf(source, text, change) });
  }
  return found;
}

/** Whether `text` makes just this change of `source`, leaves its place as typed, or has another one. */
function outcomeOf(source, text, change) {
  if (text === null) return "other";
  const here = findChanges(source, text).filter((each) => meet(each, change));
  if (!here.length) return "undone";
  return here.some((each) => isSameChange(each, change)) ? "made" : "other";
}

/** Occlusion of each source token, then of each token read before; and the mean attention of all heads. */
async function sources({ corrector, sentence, trace, change, row: asked, pause }) {
  const contrast = change
    ? contrastOfChange(corrector, sentence, change)
    : await contrastOfRow(corrector, sentence, asked);
  if (!contrast) return null;
  const { row } = contrast;
  const [length, read] = [trace.sourceTokens.length, row + 1];
  const observed = logOdds(await oddsOf(corrector, sentence, contrast, {}));
  const gone = (side, count) => upTo(count).map((place) => ({ [side]: [place] }));
  const lost = [];
  for (const changed of [...gone("source", length), ...gone("target", read)]) {
    await pause();
    lost.push(observed - logOdds(await oddsOf(corrector, sentence, contrast, changed)));
  }
  const { cross_attention: cross, decoder_attention: own } = trace.attention;
  const looked = [...halfOfMean(cross, row, length), ...halfOfMean(own, row, read)];
  return { row, length, lost, looked };
}

/** Half of the mean over all heads of one row, as model/analysis/attribution_methods.py. */
function halfOfMean(map, row, count) {
  const [layers, heads] = map.shape;
  const rows = upTo(layers * heads).map((tile) => rowOf(map, tile, row));
  return upTo(count).map((column) => mean(rows.map((each) => each[column])) / 2);
}

/** A written token against the likeliest other one. */
async function contrastOfRow({ network, tokenizer }, { source, text }, row) {
  const target = tokenizer.encodeTarget(text).slice(0, row + 1);
  const pass = await network.read(tokenizer.encodeSource(source), target);
  return { row, written: target[row], instead: likeliest(pass, row, target[row]) };
}

/**
 * One head's queries, keys and values, (K, D/H) each; with `padding` behind a sentence those of a pass that
 * writes it as it was read.
 */
async function vectors({ corrector, sentence: { source, text }, kind, layer, head, padding = 0 }) {
  const { network, tokenizer } = corrector;
  const behind = Array(padding).fill(PAD_ID);
  // The end mark is never read.
  const target = [...tokenizer.encodeTarget(padding ? source : text).slice(0, -1), ...behind, END_ID];
  const found = (await network.vectors([...tokenizer.encodeSource(source), ...behind], target))[kind];
  const one = ({ values, shape: [, heads, count, width] }) => {
    const start = (layer * heads + head) * count * width;
    return upTo(count).map((place) =>
      Array.from(values.subarray(start + place * width, start + (place + 1) * width)),
    );
  };
  return Object.fromEntries(Object.entries(found).map(([part, array]) => [part, one(array)]));
}
