// What takes long to make ready and needs no runtime. A worker of its own does it, while another one starts the runtime.
import { countedRuns } from "./ngrams.js";
import { readArrays, weightsFile } from "./store.js";
import { unpackedPart } from "./unpacking.js";
import { sortedWords } from "./words.js";

const SELDOM = 100; // milliseconds between two messages about how much has come

/** Name of a part -> what is made of its bytes: an object of typed arrays and texts, which another worker can be given. */
const MAKERS = {
  weights: (bytes, known) => ({ bytes: weightsFile(bytes, known) }),
  ngrams: (bytes) => countedRuns(readArrays(bytes)),
  words: (bytes) => sortedWords(new TextDecoder().decode(bytes)),
};

/** The bytes of a part from its place, as packed.py writes them. `heard` is told now and then how many have come. */
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
    const buffers = Object.values(made).filter(ArrayBuffer.isView).map(({ buffer }) => buffer);
    to.postMessage([name, made], buffers);
  }
}

/** {name: promise} of what `prepare` sends through the other end of the port. */
export function prepared(from) {
  const done = {};
  const promises = Object.keys(MAKERS).map((name) => [name, new Promise((resolve) => (done[name] = resolve))]);
  from.onmessage = ({ data: [name, made] }) => done[name](made);
  return Object.fromEntries(promises);
}
