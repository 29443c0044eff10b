// The typed sentence is the first draft; it is read and repaired until the network agrees with it, as model/activations/drafting.py.
import { END_ID } from "./tokenizer.js";

const PASSES = 4; // after which the sentence is finished step by step
export const ALTERNATIVES = 5; // tokens of each row that a trace keeps

const longestTarget = (sourceLength) => sourceLength + Math.floor(sourceLength / 3) + 16;

/** One pass over a draft: {ids, logits (T * V), attention}; `null` where no end mark comes. */
export async function settle(reading, source, spaceId) {
  const limit = longestTarget(source.length);
  let draft = source;
  for (let pass = 0; pass < PASSES; pass += 1) {
    const looked = await reading.passOver(draft);
    const said = draft.map((_, t) => mostProbable(looked, t));
    const written = certainTokens(draft, said);
    if (written.at(-1) === END_ID) return written.length === draft.length ? looked : cutOff(looked, written);
    if (written.length >= limit) return null;
    draft = redraft(draft, said, spaceId).slice(0, limit);
  }
  const ids = await reading.stepByStep(limit);
  return ids && reading.passOver(ids);
}

function mostProbable({ logits, size }, t) {
  let best = 0;
  for (let id = 1; id < size; id += 1) if (logits[t * size + id] > logits[t * size + best]) best = id;
  return best;
}

/** The draft up to the first difference, and what the network said there. */
function certainTokens(draft, said) {
  const agreed = draft.findIndex((drafted, t) => drafted !== said[t]);
  return agreed < 0 ? draft : [...draft.slice(0, agreed), said[agreed]];
}

/** Only the first difference is certain; the later ones are good guesses, because the network reads the source, too. */
function redraft(draft, said, spaceId) {
  const better = [];
  for (let t = 0; t < draft.length; t += 1) {
    const [drafted, token] = [draft[t], said[t]];
    if (token === drafted || token === END_ID) better.push(drafted);
    else if (drafted === END_ID || token === spaceId) better.push(token, drafted);
    else {
      better.push(token);
      t += Number(draft[t + 1] === token); // then the drafted token was too much
    }
  }
  return better.at(-1) === END_ID ? better : [...better, END_ID];
}

/** A pass over the beginning of its draft. */
function cutOff({ logits, attention, size }, ids) {
  const length = ids.length;
  const within = (kind, shape) => {
    const { values, shape: [layers, heads, rows, columns] } = attention[kind];
    if (rows === shape[0] && columns === shape[1]) return attention[kind];
    const kept = new Float32Array(layers * heads * shape[0] * shape[1]);
    for (let tile = 0; tile < layers * heads; tile += 1)
      for (let row = 0; row < shape[0]; row += 1) {
        const from = (tile * rows + row) * columns;
        kept.set(values.subarray(from, from + shape[1]), (tile * shape[0] + row) * shape[1]);
      }
    return { values: kept, shape: [layers, heads, ...shape] };
  };
  const source = attention.cross_attention.shape[3];
  return {
    ids,
    size,
    logits: logits.subarray(0, length * size),
    attention: {
      ...attention,
      decoder_attention: within("decoder_attention", [length, length]),
      cross_attention: within("cross_attention", [length, source]),
    },
  };
}

/**
 * (t, id) -> the natural logarithm of the probability of a token in a pass {logits, size}. The sum of each row is kept with the pass, which is
 * asked several times; a logarithm for every token would take more memory than all else that a sentence needs.
 */
export function logSoftmax(pass) {
  const { logits, size } = pass;
  pass.sums ??= rowSums(logits, size);
  return (t, id) => logits[t * size + id] - pass.sums[t];
}

/** Float64Array (T) of the logarithm of each row's sum of exponentials. */
function rowSums(logits, size) {
  const sums = new Float64Array(logits.length / size);
  for (let t = 0; t < sums.length; t += 1) {
    const start = t * size;
    let largest = -Infinity;
    for (let i = start; i < start + size; i += 1) if (logits[i] > largest) largest = logits[i];
    let sum = 0;
    for (let i = start; i < start + size; i += 1) sum += Math.exp(logits[i] - largest);
    sums[t] = largest + Math.log(sum);
  }
  return sums;
}

/** What a trace needs of one pass: the probability of each written token, and the most probable ones of each row. */
export function readOff(produced, tokenizer) {
  const { ids, size, logits, attention } = produced;
  const log = logSoftmax(produced);
  const rows = ids.map((_, t) => strongest(logits.subarray(t * size, (t + 1) * size)));
  return {
    attention,
    logProbabilities: ids.map((id, t) => log(t, id)),
    alternatives: rows.map((best) => tokenizer.labels(best)),
    alternativeProbabilities: rows.map((best, t) => best.map((id) => Math.exp(log(t, id)))),
  };
}

/** The ids of the largest logits, the largest first. */
function strongest(logits) {
  const best = [];
  let least = -Infinity; // of those found, once there are enough
  for (let id = 0; id < logits.length; id += 1) {
    if (logits[id] <= least) continue;
    const place = best.findIndex((other) => logits[id] > logits[other]);
    best.splice(place < 0 ? best.length : place, 0, id);
    best.length = Math.min(best.length, ALTERNATIVES);
    if (best.length === ALTERNATIVES) least = logits[best.at(-1)];
  }
  return best;
}
