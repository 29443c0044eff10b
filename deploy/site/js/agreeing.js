// What stands twice in a text is corrected twice, or not at all, as model/correction/agreeing.py.
import { confidence, moved } from "./changes.js";

const BEGINNING = ""; // stands for the word before the first one of a sentence
const SAID = /[\p{L}\p{N}]+/gu; // a word without the marks around it

/** The same sentences. If the words of a change stand in the text more than once, it gets the lowest confidence of these places. */
export function agreeing(sentences) {
  if (!sentences.some(({ proposed }) => proposed.length)) return sentences;
  const read = sentences.map(({ start, source }) =>
    [...source.matchAll(SAID)].map(({ index, 0: said }) => ({ said, start: start + index, end: start + index + said.length }))
  );
  const lines = read.map((words) => [BEGINNING, ...words.map(({ said }) => said)]);
  const places = sentences.map(({ start, proposed }, i) => proposed.map((change) => placeOf(read[i], moved(change, start, 0))));
  const sure = new Map();
  sentences.forEach(({ proposed }, i) =>
    proposed.forEach((change, n) => {
      const place = places[i][n];
      if (place && !change.isOffer) sure.set(place.key, { place, found: [...(sure.get(place.key)?.found ?? []), confidence(change)] });
    })
  );
  const least = new Map();
  for (const [key, { place, found }] of sure) {
    const count = timesSaid(place.said, lines);
    if (count > 1) least.set(key, found.length === count ? Math.min(...found) : 0);
  }
  if (!least.size) return sentences;
  const agreed = (change, place) => (place && !change.isOffer && least.has(place.key) ? { ...change, knownConfidence: least.get(place.key) } : change);
  return sentences.map((sentence, i) => ({ ...sentence, proposed: sentence.proposed.map((change, n) => agreed(change, places[i][n])) }));
}

/** The word before a change, the words that it touches, and how far behind their beginning it stands. */
function placeOf(words, { sourceStart, sourceEnd, wrong, right }) {
  const first = words.findIndex(({ start, end }) => start <= sourceEnd && sourceStart <= end);
  if (first < 0) return null;
  const touched = words.slice(first).filter(({ start, end }) => start <= sourceEnd && sourceStart <= end);
  const said = [first ? words[first - 1].said : BEGINNING, ...touched.map((word) => word.said)];
  return { said, key: JSON.stringify([said, sourceStart - touched[0].start, wrong, right]) };
}

/** How often these words stand in the text, one behind the other. */
function timesSaid(said, lines) {
  let count = 0;
  for (const line of lines) for (let i = 0; i + said.length <= line.length; i += 1) count += said.every((word, n) => line[i + n] === word);
  return count;
}
