// Files of arrays, as deploy/site/packed.py writes them, and the weights that the graphs are given.
import { FIRST_SYLLABLE, OUTSIDE_ID, SPECIAL } from "./tokenizer.js";
import { isSyllable } from "./characters.js";
import { sinusoids } from "./counting.js";

const SYLLABLES = 11172;
const HALVES = halves();
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

/** {name: typed array} of a file; 16-bit floats become 32-bit ones. */
export function readArrays(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const found = {};
  for (const { name, type, shape, start } of head) {
    const count = shape.reduce((all, one) => all * one, 1);
    const from = 4 + size + start;
    if (type === "f2") found[name] = floats(bytes.subarray(from, from + 2 * count));
    else found[name] = new TYPES[type](bytes.slice(from, from + count * TYPES[type].BYTES_PER_ELEMENT).buffer);
  }
  return found;
}

/** 16-bit floats, all low bytes first, as 32-bit ones. */
function floats(bytes) {
  const values = new Float32Array(bytes.length / 2);
  for (let i = 0; i < values.length; i += 1) values[i] = HALVES[bytes[i] | (bytes[values.length + i] << 8)];
  return values;
}

/** All 16-bit floats by their bits. */
function halves() {
  const bits = Uint32Array.from({ length: 65536 }, (_, half) => ((half & 0x8000) << 16) | ((half & 0x7fff) << 13)); // sign, exponent and fraction in their places
  return new Float32Array(bits.buffer).map((value) => value * 2 ** 112); // the exponents count from 127, not from 15
}

/** The one file in which both graphs find their weights, as packed.graph_parts lays it out. */
export function weightsFile(stored, { layout, characters, config, positions }) {
  const width = config.d_model;
  const vectors = vectorsOf(stored, characters, width);
  const derived = {
    "embedding/vectors": () => vectors,
    "embedding/vocabulary": () => transposed(vectors, config.vocab_size, width),
    positions: () => sinusoids(positions, width),
  };
  const { start, bytes } = layout.at(-1);
  const file = new Float32Array((start + bytes) / 4);
  for (const { name, start } of layout) file.set(derived[name]?.() ?? stored[name], start / 4);
  return new Uint8Array(file.buffer);
}

/** (ids, D): a syllable's own vector and those of its jamo; any other token's own. As model/plain/output_weights.py. */
function vectorsOf(stored, characters, width) {
  const part = (name) => stored[`embedding/${name}_embedding`];
  const [token, ...jamo] = ["token", "initial", "medial", "final"].map(part);
  const known = SPECIAL.length + characters.length;
  const vectors = new Float32Array((known + SYLLABLES) * width);
  const add = (id, own, syllable) => {
    const offset = syllable - FIRST_SYLLABLE;
    const places = [Math.floor(offset / 588), Math.floor((offset % 588) / 28), offset % 28];
    for (let i = 0; i < width; i += 1) {
      let sum = token[own * width + i];
      if (syllable) for (let k = 0; k < 3; k += 1) sum += jamo[k][(places[k] + 1) * width + i];
      vectors[id * width + i] = sum;
    }
  };
  for (let id = 0; id < known; id += 1) {
    const character = characters[id - SPECIAL.length] ?? "";
    add(id, id, isSyllable(character) ? character.charCodeAt(0) : 0);
  }
  for (let i = 0; i < SYLLABLES; i += 1) add(known + i, OUTSIDE_ID, FIRST_SYLLABLE + i);
  return vectors;
}

function transposed(vectors, rows, width) {
  const found = new Float32Array(rows * width);
  for (let row = 0; row < rows; row += 1) for (let i = 0; i < width; i += 1) found[i * rows + row] = vectors[row * width + i];
  return found;
}
