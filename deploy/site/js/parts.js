// Packed parts of the site: unpacking, files of arrays, the weights that the graphs read.
import { FIRST_SYLLABLE, OUTSIDE_ID, SPECIAL } from "./network.js";
import { sinusoids } from "./numbers.js";
import { isSyllable } from "./text.js";

// --- Unpacks parts packed by zlib: for drawing on the page, for computing in its worker.

/** The bytes of a packed stream. */
export async function inflated(stream) {
  const whole = new Response(stream.pipeThrough(new DecompressionStream("deflate")));
  return new Uint8Array(await whole.arrayBuffer());
}

/**
 * The bytes of a part of the site. It lies at an `address`, or stands in the page as `text`, spelled as
 * `spelling` says. `heard` is told how many packed bytes have come.
 */
export async function unpackedPart({ address, text, spelling }, heard = () => {}) {
  // In a file's worker WebKit streams no Blob.
  if (text !== undefined) return inflated(new Response(bytesOf(text, spelling)).body);
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  let size = 0;
  const counted = new TransformStream({
    transform(chunk, out) {
      heard((size += chunk.length));
      out.enqueue(chunk);
    },
  });
  return inflated(answer.body.pipeThrough(counted));
}

/** Bytes that stand in the page as characters of windows-1252; see deploy/site/build.py. */
function bytesOf(text, { high, escape, shift }) {
  const codes = Uint8Array.from({ length: 65536 }, (_, code) => code);
  Array.from(high, (character, i) => (codes[character.charCodeAt(0)] = 128 + i));
  const bytes = new Uint8Array(text.length);
  let size = 0;
  for (let i = 0; i < text.length; i += 1) {
    let code = text.charCodeAt(i);
    const escaped = code === escape;
    if (escaped) code = text.charCodeAt((i += 1));
    bytes[size] = escaped ? codes[code] - shift : codes[code];
    size += 1;
  }
  return bytes.subarray(0, size);
}

// --- Files of arrays, as deploy/site/packed.py writes them, and the weights that the graphs are given.

const [MEDIALS, FINALS, SYLLABLES] = [21, 28, 11172];
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };

/** {name: the whole numbers of an array} of a file. */
export function readArrays(bytes) {
  const arrays = arraysIn(bytes).map(({ name, type, from, count }) => [
    name,
    new TYPES[type](bytes.slice(from, from + count * TYPES[type].BYTES_PER_ELEMENT).buffer),
  ]);
  return Object.fromEntries(arrays);
}

/** [{name, type, from, count}]: where the arrays of a file begin, and how many numbers they have. */
function arraysIn(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  return head.map(({ name, type, shape, start }) => ({
    name,
    type,
    from: 4 + size + start,
    count: shape.reduce((all, one) => all * one, 1),
  }));
}

/** Puts `count` 16-bit floats, which stand in `bytes` as all low bytes, then all high ones, into `values`. */
function putFloats(bytes, { from, count }, values, halves) {
  const [low, high] = [bytes.subarray(from, from + count), bytes.subarray(from + count, from + 2 * count)];
  for (let i = 0; i < count; i += 1) values[i] = halves[low[i] | (high[i] << 8)];
  return values;
}

/** All 16-bit floats by their bits. */
function everyHalf() {
  // Sign, exponent and fraction in their places.
  const single = (half) => ((half & 0x8000) << 16) | ((half & 0x7fff) << 13);
  const bits = Uint32Array.from({ length: 65536 }, (_, half) => single(half));
  // The exponents count from 127, not from 15.
  return new Float32Array(bits.buffer).map((value) => value * 2 ** 112);
}

/** The file in which both graphs find their weights, laid out by packed.graph_parts, of the stored ones. */
export function weightsFile(bytes, { layout, characters, config, positions }) {
  const width = config.d_model;
  const { start, bytes: size } = layout.at(-1);
  const file = new Float32Array((start + size) / 4);
  const place = ({ start, bytes: size }) => file.subarray(start / 4, (start + size) / 4);
  const places = Object.fromEntries(layout.map((each) => [each.name, place(each)]));
  const halves = everyHalf();
  const stored = {};
  for (const array of arraysIn(bytes))
    stored[array.name] = putFloats(bytes, array, places[array.name] ?? new Float32Array(array.count), halves);
  putVectors(places["embedding/vectors"], stored, characters, width);
  putTransposed(places["embedding/vocabulary"], places["embedding/vectors"], config.vocab_size, width);
  places.positions.set(sinusoids(positions, width));
  return new Uint8Array(file.buffer);
}

/** (ids, D): the sum of a token's vector and those of its jamo, as model/activations/sublayers.py. */
function putVectors(vectors, stored, characters, width) {
  const parts = ["token", "initial", "medial", "final"];
  const [tokens, initials, medials, finals] = parts.map((part) => stored[`embedding/${part}_embedding`]);
  const known = SPECIAL.length + characters.length;
  const row = (table, place) => table.subarray(place * width, (place + 1) * width);
  // Of all syllables with this initial and medial; sums of 16-bit floats are exact here.
  const beginning = new Float64Array(width);
  const begin = (own, syllable) => {
    const place = Math.floor(syllable / FINALS);
    const initial = row(initials, Math.floor(place / MEDIALS) + 1);
    const medial = row(medials, (place % MEDIALS) + 1);
    for (let i = 0; i < width; i += 1) beginning[i] = own[i] + initial[i] + medial[i];
  };
  const end = (id, syllable) => {
    const [vector, final] = [row(vectors, id), row(finals, (syllable % FINALS) + 1)];
    for (let i = 0; i < width; i += 1) vector[i] = beginning[i] + final[i];
  };
  for (let id = 0; id < known; id += 1) {
    const character = characters[id - SPECIAL.length] ?? "";
    const syllable = character.charCodeAt(0) - FIRST_SYLLABLE;
    if (isSyllable(character)) end(id, syllable, begin(row(tokens, id), syllable));
    else row(vectors, id).set(row(tokens, id));
  }
  const outside = row(tokens, OUTSIDE_ID);
  for (let syllable = 0; syllable < SYLLABLES; syllable += 1) {
    if (syllable % FINALS === 0) begin(outside, syllable);
    end(known + syllable, syllable);
  }
}

function putTransposed(found, vectors, rows, width) {
  for (let i = 0; i < width; i += 1)
    for (let row = 0; row < rows; row += 1) found[i * rows + row] = vectors[row * width + i];
}
