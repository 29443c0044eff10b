// The two halves of the network in ONNX Runtime. `ort` is its module; S source and T target tokens, V vocabulary.
import { settle } from "./drafting.js";
import { END_ID, START_ID } from "./tokenizer.js";

export class Network {
  /** `halves`: the graphs `encode` and `decode`; `weights`: the file in which they look for theirs. */
  static async open(ort, { encode, decode }, weights) {
    const options = { externalData: [{ path: weights.name, data: weights.bytes }], executionProviders: ["wasm"] };
    const sessions = [];
    for (const graph of [encode, decode]) sessions.push(await ort.InferenceSession.create(graph, options));
    return new Network(ort, ...sessions);
  }

  constructor(ort, encode, decode) {
    Object.assign(this, { ort, encode, decode });
  }

  /** The network's own correction of a sentence's ids, with the pass over it; null where no end mark comes. */
  async produce(source, spaceId) {
    return settle(await this.reading(source), source, spaceId);
  }

  /** A teacher-forced pass. */
  async read(source, target) {
    return (await this.reading(source)).passOver(target);
  }

  async reading(source) {
    return new Reading(this, await this.encode.run({ source: this.ids(source) }));
  }

  ids(row) {
    return new this.ort.Tensor("int32", Int32Array.from(row), [1, row.length]);
  }
}

/** One source, encoded once, for all passes over drafts of its correction. */
class Reading {
  constructor(network, state) {
    Object.assign(this, { network, state });
  }

  async passOver(draft) {
    const { encoder_attention, ...kept } = this.state;
    const found = await this.network.decode.run({ ids: this.network.ids([START_ID, ...draft.slice(0, -1)]), ...kept });
    const attention = { encoder_attention, decoder_attention: found.decoder_attention, cross_attention: found.cross_attention };
    return {
      ids: [...draft],
      size: found.logits.dims[2],
      logits: found.logits.data,
      attention: Object.fromEntries(Object.entries(attention).map(([kind, { data, dims }]) => [kind, { values: data, shape: dims.slice(1) }])),
    };
  }

  /** The ids that are decided one after the other; null where no end mark comes within `limit`. */
  async stepByStep(limit) {
    const { encoder_attention, ...state } = this.state;
    const written = [];
    while (written.length < limit) {
      const { logits, ...found } = await this.network.decode.run({ ids: this.network.ids([written.at(-1) ?? START_ID]), ...state });
      written.push(logits.data.reduce((best, value, id, all) => (value > all[best] ? id : best), 0));
      if (written.at(-1) === END_ID) return written;
      for (const part of ["keys", "values"]) state[`cache_${part}`] = found[`next_${part}`];
    }
    return null;
  }
}
