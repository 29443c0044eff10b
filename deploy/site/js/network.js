// The two halves of the network in ONNX Runtime. `ort` is its module; S source and T target tokens, V vocabulary, L layers, H heads.
import { settle } from "./drafting.js";
import { END_ID, PAD_ID, START_ID } from "./tokenizer.js";

/** What a pass is asked to change, as model/trace/interventions.py: heads [kind, layer, head], places of the source and of what was read. */
export const NOTHING = { off: [], source: [], target: [] };
// The runtime's optimisations make no pass over these graphs faster, so they are off. Looking for them takes a quarter of a second; weights in
// another order, and memory kept for the next pass, take 10 MB.
const PLAIN = { graphOptimizationLevel: "disabled", enableCpuMemArena: false, enableMemPattern: false, extra: { session: { disable_prepacking: "1" } } };
const KINDS = { encode: ["encoder_attention"], decode: ["decoder_attention", "cross_attention"] };
// What a graph hands out is copied, so only what is needed is asked for.
const STATE = ["memory_keys", "memory_values", "memory_mask", "cache_keys", "cache_values"];
const SEEN = { encode: ["encoder_attention"], decode: ["logits", "decoder_attention", "cross_attention"] };
const REMEMBERED = 4; // encodings: other candidates for a sentence are read right after it, and so are its experiments
const NEXT = ["next_keys", "next_values"];
const INSIDE = {
  encode: ["encoder_attention_query", "encoder_attention_key", "encoder_attention_value"],
  decode: ["decoder_attention_query", "cross_attention_query", ...NEXT],
};

export class Network {
  /** `halves`: the graphs `encode` and `decode`; `weights`: the file in which they look for theirs; `config`: of the network. */
  static async open(ort, { encode, decode }, weights, config) {
    const options = { externalData: [{ path: weights.name, data: weights.bytes }], executionProviders: ["wasm"], ...PLAIN };
    const sessions = [];
    for (const graph of [encode, decode]) sessions.push(await ort.InferenceSession.create(graph, options));
    return new Network(ort, ...sessions, config);
  }

  constructor(ort, encode, decode, { num_layers, num_heads }) {
    Object.assign(this, { ort, encode, decode, shape: [num_layers, num_heads], remembered: new Map() });
  }

  /** The network's own correction of a sentence's ids, with the pass over it; null where no end mark comes. */
  async produce(source, spaceId, changed = NOTHING) {
    return settle(await this.reading(source, changed), source, spaceId);
  }

  /** A teacher-forced pass. */
  async read(source, target, changed = NOTHING) {
    return (await this.reading(source, changed)).passOver(target);
  }

  async reading(source, changed, outputs = SEEN.encode) {
    const ids = source.map((id, place) => (changed.source.includes(place) ? PAD_ID : id));
    const key = JSON.stringify([ids, changed.off.filter(([kind]) => KINDS.encode.includes(kind)), outputs]);
    const found = this.remembered.get(key) ?? (await this.encode.run({ source: this.ids(ids), ...this.gates("encode", changed) }, [...STATE, ...outputs]));
    this.remembered.delete(key);
    this.remembered.set(key, found);
    if (this.remembered.size > REMEMBERED) this.remembered.delete(this.remembered.keys().next().value);
    return new Reading(this, found, changed);
  }

  /** Queries, keys and values (L, H, K, D/H) of a pass, by kind of attention. */
  async vectors(source, target) {
    const reading = await this.reading(source, NOTHING, INSIDE.encode);
    const written = await reading.run([START_ID, ...target.slice(0, -1)], reading.state, INSIDE.decode);
    const { memory_keys: cross_attention_key, memory_values: cross_attention_value } = reading.found;
    const { next_keys: decoder_attention_key, next_values: decoder_attention_value } = written;
    const found = { ...reading.found, ...written, cross_attention_key, cross_attention_value, decoder_attention_key, decoder_attention_value };
    const of = (kind) => Object.fromEntries(["query", "key", "value"].map((part) => [part, arrayOf(found[`${kind}_${part}`])]));
    return Object.fromEntries(Object.values(KINDS).flat().map((kind) => [kind, of(kind)]));
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
    Object.assign(this, { network, found, changed, state: { ...state, ...network.gates("decode", changed) } });
  }

  /** `read`: how many tokens the decoder has read then, those of the cache included. */
  run(ids, state, outputs, read = ids.length) {
    const leftOut = new Float32Array(read);
    for (const place of this.changed.target) leftOut[place] = 1; // one behind the last is none
    return this.network.decode.run({ ids: this.network.ids(ids), left_out: new this.network.ort.Tensor("float32", leftOut, [read]), ...state }, outputs);
  }

  async passOver(draft) {
    const { logits, ...found } = await this.run([START_ID, ...draft.slice(0, -1)], this.state, SEEN.decode);
    const attention = { encoder_attention: this.found.encoder_attention, ...found };
    return {
      ids: [...draft],
      size: logits.dims[2],
      logits: logits.data,
      attention: Object.fromEntries(Object.entries(attention).map(([kind, tensor]) => [kind, arrayOf(tensor)])),
    };
  }

  /** The ids that are decided one after the other; null where no end mark comes within `limit`. */
  async stepByStep(limit) {
    const state = { ...this.state };
    const written = [];
    while (written.length < limit) {
      const { logits, ...found } = await this.run([written.at(-1) ?? START_ID], state, ["logits", ...NEXT], written.length + 1);
      written.push(logits.data.reduce((best, value, id, all) => (value > all[best] ? id : best), 0));
      if (written.at(-1) === END_ID) return written;
      for (const part of ["keys", "values"]) state[`cache_${part}`] = found[`next_${part}`];
    }
    return null;
  }
}

const arrayOf = ({ data, dims }) => ({ values: data, shape: dims.slice(1) });
