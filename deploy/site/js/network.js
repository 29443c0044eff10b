// `Network` in ONNX Runtime with draft decoding, and `Tokenizer`; ports of model/.
import { between } from "./numbers.js";
import { isSyllable, opcodes } from "./text.js";

// --- Ids of characters, as model/text/tokenizer.py.

export const [PAD_ID, OUTSIDE_ID, START_ID, END_ID] = [0, 1, 2, 3];
export const SPECIAL = ["<pad>", "<outside>", "<s>", "</s>"];
const HOLE = "\ufffc"; // "something stands here"
export const FIRST_SYLLABLE = 0xac00;

export class Tokenizer {
  constructor(characters) {
    this.tokens = [...SPECIAL, ...characters];
    this.ids = new Map(this.tokens.map((token, id) => [token, id]).slice(SPECIAL.length));
  }

  get size() {
    return this.tokens.length;
  }

  sourceId(character) {
    const known = this.ids.get(character);
    if (known !== undefined) return known;
    return isSyllable(character) ? this.size + character.charCodeAt(0) - FIRST_SYLLABLE : OUTSIDE_ID;
  }

  isOutside(character) {
    return this.sourceId(character) === OUTSIDE_ID;
  }

  encodeSource(text) {
    return [...Array.from(text, (character) => this.sourceId(character)), END_ID];
  }

  encodeTarget(text) {
    return [...Array.from(text, (character) => this.ids.get(character) ?? OUTSIDE_ID), END_ID];
  }

  /** Text of ids up to the end mark; `<outside>` becomes the character of the source at its place. */
  decode(ids, source) {
    const end = ids.indexOf(END_ID);
    const isText = (id) => id === OUTSIDE_ID || id >= SPECIAL.length;
    const produced = (end < 0 ? ids : ids.slice(0, end)).filter(isText);
    const text = produced.map((id) => (id === OUTSIDE_ID ? HOLE : this.tokens[id])).join("");
    return text.includes(HOLE) ? this.fillHoles(text, source) : text;
  }

  fillHoles(text, source) {
    const holes = Array.from(source, (character) => (this.ids.has(character) ? character : HOLE)).join("");
    const filled = Array.from(text, (character) => (character === HOLE ? "" : character));
    const places = (said, start, end) => between(start, end).filter((i) => said[i] === HOLE);
    for (const { start, end, first, last } of opcodes(holes, text)) {
      const to = places(text, first, last);
      places(holes, start, end).forEach((from, i) => i < to.length && (filled[to[i]] = source[from]));
    }
    return filled.join("");
  }

  /** Ids that the network can produce, as labels. */
  labels(ids) {
    return ids.map((id) => (this.tokens[id] === " " ? "␣" : this.tokens[id]));
  }
}

/** The characters of a text as labels: a space becomes a visible mark. */
export const visible = (text) => Array.from(text, (character) => (character === " " ? "␣" : character));

// --- The typed sentence, repaired until the network agrees with it; as model/activations/drafting.py.

const longestTarget = (sourceLength) => sourceLength + Math.floor(sourceLength / 3) + 16;

/**
 * The correction of a source as one pass over it, {ids, logits (T * V), attention}, as `settle` and
 * `settle_ahead` of Python; `null` where no end mark comes.
 */
export async function settle(reading, source, spaceId) {
  const limit = longestTarget(source.length);
  let draft = source;
  for (let pass = 0; pass < PASSES; pass += 1) {
    const looked = await reading.passOver(draft);
    const said = draft.map((_, t) => likeliest(looked, t));
    const written = certainTokens(draft, said);
    if (written.at(-1) === END_ID) return written.length === draft.length ? looked : cutOff(looked, written);
    if (written.length >= limit) return null;
    draft = redraft(draft, said, spaceId).slice(0, limit);
  }
  const ids = await reading.stepByStep(limit);
  return ids && reading.passOver(ids);
}

/** The id of the largest logit of row `t`, `but` one; of equal ones the first. */
export function likeliest({ logits, size }, t = 0, but = -1) {
  let best = -1;
  for (let id = 0; id < size; id += 1)
    if (id !== but && (best < 0 || logits[t * size + id] > logits[t * size + best])) best = id;
  return best;
}

/** The draft up to the first difference, and the network's token there. */
function certainTokens(draft, said) {
  const agreed = draft.findIndex((drafted, t) => drafted !== said[t]);
  return agreed < 0 ? draft : [...draft.slice(0, agreed), said[agreed]];
}

/** Only the first difference is certain; later ones are good guesses: the network reads the source, too. */
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
  const { length } = ids;
  const within = ({ values, shape: [layers, heads, rows, columns] }, width) => {
    const kept = values.filter((_, i) => Math.floor(i / columns) % rows < length && i % columns < width);
    return { values: kept, shape: [layers, heads, length, width] };
  };
  const { decoder_attention: own, cross_attention: cross } = attention;
  const cut = { decoder_attention: within(own, length), cross_attention: within(cross, cross.shape[3]) };
  return { ids, size, logits: logits.subarray(0, length * size), attention: { ...attention, ...cut } };
}

/**
 * (t, id) -> the natural logarithm of the probability of a token in a pass {logits, size}. The sum of each
 * row is kept with the pass, which is asked several times; a logarithm for every token would take more memory
 * than all else that a sentence needs.
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

/** Of a trace what one pass gives: probabilities of the written tokens, and each row's most probable ones. */
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

// --- The two halves of the network in ONNX Runtime, whose module is `ort`. L layers, H heads, D width.

/** As model/trace/interventions.py: heads [kind, layer, head], places of source and decoder's input. */
const NOTHING = { off: [], source: [], target: [] };
// The runtime's optimisations make no pass over these graphs faster, so they are off. Looking for them takes
// a quarter of a second; weights in another order, and memory kept for the next pass, take 10 MB.
const PLAIN = {
  graphOptimizationLevel: "disabled",
  enableCpuMemArena: false,
  enableMemPattern: false,
  extra: { session: { disable_prepacking: "1" } },
};
const KINDS = { encode: ["encoder_attention"], decode: ["decoder_attention", "cross_attention"] };
// Outputs of a graph are copied, so only the needed ones are requested.
const STATE = ["memory_keys", "memory_values", "memory_mask", "cache_keys", "cache_values"];
const SEEN = { encode: ["encoder_attention"], decode: ["logits", "decoder_attention", "cross_attention"] };
// Encodings: other candidates for a sentence are read right after it, and so are its experiments.
const REMEMBERED = 4;
const NEXT = ["next_keys", "next_values"];
const INSIDE = {
  encode: ["encoder_attention_query", "encoder_attention_key", "encoder_attention_value"],
  decode: ["decoder_attention_query", "cross_attention_query", ...NEXT],
};

export class Network {
  /** `encode`, `decode`: graphs; `weights`: the file in which they find theirs; `config`: of the network. */
  static async open(ort, { encode, decode }, weights, config) {
    const options = {
      externalData: [{ path: weights.name, data: weights.bytes }],
      executionProviders: ["wasm"],
      ...PLAIN,
    };
    const sessions = [];
    for (const graph of [encode, decode]) sessions.push(await ort.InferenceSession.create(graph, options));
    return new Network(ort, ...sessions, config);
  }

  constructor(ort, encode, decode, { num_layers, num_heads }) {
    Object.assign(this, { ort, encode, decode, shape: [num_layers, num_heads], remembered: new Map() });
  }

  /** The network's own correction of a sentence's ids, as one pass over it; null where no end mark comes. */
  async produce(source, spaceId, changed = {}) {
    return settle(await this.reading(source, changed), source, spaceId);
  }

  /** A teacher-forced pass. */
  async read(source, target, changed = {}) {
    return (await this.reading(source, changed)).passOver(target);
  }

  async reading(source, interventions, outputs = SEEN.encode) {
    const changed = { ...NOTHING, ...interventions };
    const ids = source.map((id, place) => (changed.source.includes(place) ? PAD_ID : id));
    const key = JSON.stringify([ids, changed.off.filter(([kind]) => KINDS.encode.includes(kind)), outputs]);
    const given = { source: this.ids(ids), ...this.gates("encode", changed) };
    const found = this.remembered.get(key) ?? (await this.encode.run(given, [...STATE, ...outputs]));
    this.remembered.delete(key);
    this.remembered.set(key, found);
    if (this.remembered.size > REMEMBERED) this.remembered.delete(this.remembered.keys().next().value);
    return new Reading(this, found, changed);
  }

  /** Queries, keys and values (L, H, K, D/H) of a pass, by kind of attention. */
  async vectors(source, target) {
    const reading = await this.reading(source, {}, INSIDE.encode);
    const written = await reading.run([START_ID, ...target.slice(0, -1)], reading.state, INSIDE.decode);
    const found = { ...reading.found, ...written };
    const arrays = (query, key, value) => ({
      query: arrayOf(found[query]),
      key: arrayOf(found[key]),
      value: arrayOf(found[value]),
    });
    return {
      encoder_attention: arrays(...INSIDE.encode),
      decoder_attention: arrays("decoder_attention_query", ...NEXT),
      cross_attention: arrays("cross_attention_query", "memory_keys", "memory_values"),
    };
  }

  ids(row) {
    return new this.ort.Tensor("int32", Int32Array.from(row), [1, row.length]);
  }

  gates(half, { off }) {
    const [layers, heads] = this.shape;
    const made = KINDS[half].map((kind) => {
      const values = new Float32Array(layers * heads).fill(1);
      for (const [of, layer, head] of off) if (of === kind) values[layer * heads + head] = 0;
      return [`${kind}_gates`, new this.ort.Tensor("float32", values, this.shape)];
    });
    return Object.fromEntries(made);
  }
}

/** One source, encoded once, for all passes over drafts of its correction. */
class Reading {
  constructor(network, found, changed) {
    const state = Object.fromEntries(STATE.map((name) => [name, found[name]]));
    Object.assign(this, { network, found, changed });
    this.state = { ...state, ...network.gates("decode", changed) };
  }

  /** `read`: how many tokens the decoder has read then, those of the cache included. */
  run(ids, state, outputs, read = ids.length) {
    const leftOut = new Float32Array(read);
    for (const place of this.changed.target) leftOut[place] = 1; // one behind the last is none
    const { network } = this;
    const left_out = new network.ort.Tensor("float32", leftOut, [read]);
    return network.decode.run({ ids: network.ids(ids), left_out, ...state }, outputs);
  }

  async passOver(draft) {
    const { logits, ...found } = await this.run([START_ID, ...draft.slice(0, -1)], this.state, SEEN.decode);
    const attention = { encoder_attention: this.found.encoder_attention, ...found };
    for (const kind of Object.keys(attention)) attention[kind] = arrayOf(attention[kind]);
    return { ids: [...draft], size: logits.dims[2], logits: logits.data, attention };
  }

  /** The ids that are decided one after the other; null where no end mark comes within `limit`. */
  async stepByStep(limit) {
    const state = { ...this.state };
    const written = [];
    while (written.length < limit) {
      const [last, read] = [written.at(-1) ?? START_ID, written.length + 1];
      const { logits, ...found } = await this.run([last], state, ["logits", ...NEXT], read);
      written.push(likeliest({ logits: logits.data, size: logits.data.length }));
      if (written.at(-1) === END_ID) return written;
      for (const part of ["keys", "values"]) state[`cache_${part}`] = found[`next_${part}`];
    }
    return null;
  }
}

const arrayOf = ({ data, dims }) => ({ values: data, shape: dims.slice(1) });
