// Words that were typed in the English keyboard layout, as model/text/english_layout.py and model/correction/offers.py.
// They are offered beside the corrections, never made.
import { applyChanges, growth, inOrder, moved } from "./changes.js";
import { isSyllable, spansOf } from "./characters.js";
import { partOf } from "./anchors.js";

const LEAST_SYLLABLES = 2;

export function findOffers({ text, verbatim }, words, rules) {
  const { numbers, keys } = rules;
  const found = [];
  for (const [start, end] of spansOf(rules.patterns.latin_word, text)) {
    const word = text.slice(start, end);
    if (word === word.toUpperCase() || keys.latin_words.includes(word.toLowerCase())) continue;
    if (verbatim.some(([first, last]) => start < last && first < end)) continue;
    const right = hangulOf(word, keys);
    if (!right || right.length < LEAST_SYLLABLES) continue;
    const least = right.length === 2 ? numbers.LEAST_COUNT_SHORT : numbers.LEAST_COUNT_LONGER;
    if (words.known([right])[0] >= Math.log1p(least)) found.push({ sourceStart: start, sourceEnd: end, wrong: word, right, isOffer: true });
  }
  return inOrder(found);
}

/** The syllables that the keys of `word` write in the two-set layout; null where they write anything else. */
export function hangulOf(word, keys) {
  if (![...word].every((letter) => letter in keys.jamo)) return null;
  const written = [""]; // the last one is still being put together
  for (const letter of word) {
    const key = keys.jamo[letter];
    const vowel = key >= "ㅏ";
    written.splice(-1, 1, ...(vowel ? withVowel(written.at(-1), key, keys) : withConsonant(written.at(-1), key, keys)));
  }
  const text = written.join("");
  return [...text].every(isSyllable) ? text : null;
}

function withConsonant(current, key, keys) {
  if (isSyllable(current)) {
    const [initial, medial, final] = decompose(current, keys);
    const longer = final ? keys.joined[final + key] : key;
    if (longer !== undefined && keys.finals.includes(longer)) return [compose(initial, medial, longer, keys)];
  }
  return [current, key];
}

function withVowel(current, key, keys) {
  if (isSyllable(current)) {
    const [initial, medial, final] = decompose(current, keys);
    if (final) {
      const strokes = [...(keys.strokes[final] ?? final)];
      const last = strokes.pop();
      return [compose(initial, medial, strokes.join(""), keys), compose(last, key, "", keys)];
    }
    const longer = keys.joined[medial + key];
    if (longer) return [compose(initial, longer, "", keys)];
  } else if (current && keys.initials.includes(current)) return [compose(current, key, "", keys)];
  else if (current && keys.joined[current + key]) return [keys.joined[current + key]];
  return [current, key];
}

function decompose(syllable, { initials, medials, finals }) {
  const offset = syllable.charCodeAt(0) - 0xac00;
  return [initials[Math.floor(offset / 588)], medials[Math.floor((offset % 588) / 28)], finals[offset % 28]];
}

function compose(initial, medial, final, { initials, medials, finals }) {
  const offset = (initials.indexOf(initial) * 21 + medials.indexOf(medial)) * 28 + finals.indexOf(final);
  return String.fromCharCode(0xac00 + offset);
}

/** The sentence with all offers accepted, as the network is to read it. */
export function asIfRight(part, offers, rules) {
  if (!offers.length) return part;
  const drift = (place) => offers.filter(({ sourceEnd }) => sourceEnd <= place).reduce((sum, offer) => sum + growth(offer), 0);
  const verbatim = part.verbatim.map(([start, end]) => [start + drift(start), end + drift(start)]);
  return partOf(applyChanges(part.text, offers), verbatim, rules);
}

/** The changes of a sentence from those of the sentence `asIfRight`, and the offers among them. */
export function withOffers(changes, offers) {
  const touches = (change, offer) => change.sourceStart <= offer.targetEnd && offer.targetStart <= change.sourceEnd;
  const drift = (place) => offers.filter(({ targetEnd }) => targetEnd <= place).reduce((sum, offer) => sum + growth(offer), 0);
  const rest = changes.filter((change) => !offers.some((offer) => touches(change, offer)));
  return inOrder([...rest.map((change) => moved(change, -drift(change.sourceStart), 0)), ...offers]);
}
