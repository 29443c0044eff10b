// Characters, edit operations, changes and sentences of a text; ports of model/text/.
import { between, sum, upTo } from "./numbers.js";

// --- Characters as Python sees them: white space, Hangul, and one unit of a string for each.

// Those of str.isspace.
const SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
const SPACE = new RegExp(`[${SPACES}]`);
const GAPS = new RegExp(`[${SPACES}]+`, "g");
export const WORDS = new RegExp(`[^${SPACES}]+`, "g");
const START = new RegExp(`^[${SPACES}]+`);
const END = new RegExp(`[${SPACES}]+$`);

export const isSpace = (character) => SPACE.test(character);
export const isLetterOrNumber = (character) => /[\p{L}\p{N}]/u.test(character);
export const isSyllable = (character) => /^[가-힣]$/.test(character);
export const isHangul = (character) => /^[가-힣ㄱ-ㅣ]$/.test(character);
export const stripStart = (text) => text.replace(START, "");
export const stripEnd = (text) => text.replace(END, "");
export const strip = (text) => stripEnd(stripStart(text));
export const isBlank = (text) => strip(text) === "";
export const squeezed = (text) => (text.match(WORDS) ?? []).join("");

/**
 * [[start, end], ...] of the matches of a pattern with the flag g and without named groups. `matchAll` would
 * copy the pattern; a browser may compile a copy anew, and for the long ones of rules.py that takes longer
 * than to correct a sentence.
 */
export function spansOf(pattern, text) {
  const found = [];
  text.replace(pattern, (match, ...groups) => {
    const start = groups.at(-2); // behind the groups come the place and the text
    found.push([start, start + match.length]);
  });
  return found;
}

// As model/text/hangul.py; `keys` of rules.py.
export function decompose(syllable, { initials, medials, finals }) {
  const offset = syllable.charCodeAt(0) - 0xac00;
  return [initials[Math.floor(offset / 588)], medials[Math.floor((offset % 588) / 28)], finals[offset % 28]];
}

export function compose(initial, medial, final, { initials, medials, finals }) {
  const offset = (initials.indexOf(initial) * 21 + medials.indexOf(medial)) * 28 + finals.indexOf(final);
  return String.fromCharCode(0xac00 + offset);
}

// Hanja with two Korean readings have a second code point, which NFC would exchange for the first.
const COMPATIBILITY_IDEOGRAPHS = /([\uf900-\ufad9\u{2f800}-\u{2fa1d}]+)/u;

/** NFC, as tokenizer.normalise. */
export function normalise(text) {
  const pieces = text.split(COMPATIBILITY_IDEOGRAPHS);
  return pieces.map((piece, i) => (i % 2 ? piece : piece.normalize("NFC"))).join("");
}

// Rare hanja and private characters are substitutes of letters and signs of two units. All rules treat them
// alike.
const SUBSTITUTES = { letter: [0x3400, 0x4dbf], sign: [0xe000, 0xf8ff] };

/**
 * A text in which each character is one unit, and the characters behind the substitutes. Python counts code
 * points and JavaScript UTF-16 units, so an emoji would shift all places behind it. Null for a text with more
 * such characters than there are substitutes: thousands.
 */
export function withSubstitutes(text) {
  const substitutes = {};
  if (!/[\u{10000}-\u{10ffff}]/u.test(text)) return { text, substitutes };
  const own = new Map();
  const free = (kind) => {
    for (let code = SUBSTITUTES[kind][0]; code <= SUBSTITUTES[kind][1]; code += 1) {
      const character = String.fromCharCode(code);
      if (!(character in substitutes) && !text.includes(character)) return character;
    }
    return null;
  };
  const written = Array.from(text, (character) => {
    if (character.length === 1) return character;
    if (!own.has(character)) {
      own.set(character, free(isLetterOrNumber(character) ? "letter" : "sign"));
      if (own.get(character)) substitutes[own.get(character)] = character;
    }
    return own.get(character);
  });
  return written.includes(null) ? null : { text: written.join(""), substitutes };
}

/** A text with its own characters in place of their substitutes. */
export function restored(text, substitutes) {
  return Array.from(text, (character) => substitutes[character] ?? character).join("");
}

// --- The fewest edits between two texts (Levenshtein 1966); of equally few those of RapidFuzz.

/** [{tag, start, end, first, last}] of the parts of two texts: one[start:end] becomes other[first:last]. */
export function opcodes(one, other) {
  const blocks = [];
  let [at, to] = [0, 0];
  const equal = (a, b) => a > at && blocks.push({ tag: "equal", start: at, end: a, first: to, last: b });
  for (const [tag, a, b] of edits(one, other)) {
    equal(a, b);
    [at, to] = [a + (tag !== "insert"), b + (tag !== "delete")];
    const before = blocks.at(-1);
    if (before?.tag === tag && before.end === a && before.last === b)
      Object.assign(before, { end: at, last: to });
    else blocks.push({ tag, start: a, end: at, first: b, last: to });
  }
  equal(one.length, other.length);
  return blocks;
}

export function distance(one, other) {
  return edits(one, other).length;
}

/** [tag, place in one, place in other] of each edit, in order. */
function edits(one, other) {
  let skipped = 0;
  while (skipped < one.length && skipped < other.length && one[skipped] === other[skipped]) skipped += 1;
  let [col, row] = [one.length - skipped, other.length - skipped];
  while (col && row && one[skipped + col - 1] === other[skipped + row - 1]) [col, row] = [col - 1, row - 1];
  const width = col + 1;
  const cost = costs(one, other, skipped, col, row);
  const found = [];
  const note = (tag) => found.push([tag, skipped + col, skipped + row]);
  // By how much a place of the matrix costs more than the one beside it.
  const step = (at) => cost[at] - cost[at - 1];
  while (col || row) {
    const at = row * width + col;
    if (!row || (col && step(at) === 1)) {
      col -= 1;
      note("delete");
    } else if (!col || (row > 1 && step(at - width) === -1)) {
      row -= 1;
      note("insert");
    } else {
      [col, row] = [col - 1, row - 1];
      if (one[skipped + col] !== other[skipped + row]) note("replace");
    }
  }
  return found.reverse();
}

/** (rows + 1) x (columns + 1): how many edits the beginnings of both texts are apart. */
function costs(one, other, skipped, columns, rows) {
  const width = columns + 1;
  const cost = new Int32Array(width * (rows + 1));
  for (let col = 0; col < width; col += 1) cost[col] = col;
  for (let row = 1; row <= rows; row += 1) {
    cost[row * width] = row;
    for (let col = 1; col < width; col += 1) {
      const at = row * width + col;
      const same = one[skipped + col - 1] === other[skipped + row - 1];
      cost[at] = Math.min(cost[at - 1] + 1, cost[at - width] + 1, cost[at - width - 1] + !same);
    }
  }
  return cost;
}

// --- Where two texts differ, as model/text/changes.py. A change is {sourceStart, sourceEnd, targetStart,
// targetEnd, wrong, right}, and with its probabilities {fix, keep, knownConfidence, insteadOf}.

export const movesSpaces = ({ wrong, right }) => isBlank(wrong) && isBlank(right);
export const growth = ({ wrong, right }) => right.length - wrong.length;
export const growthOf = (changes) => sum(changes.map(growth));
export const confidence = ({ knownConfidence, fix, keep }) => knownConfidence ?? fix * (1 - keep);

/** Whether the places of two changes in the source overlap or touch. */
export const meet = (one, other) => one.sourceStart <= other.sourceEnd && other.sourceStart <= one.sourceEnd;
export const isSameChange = (one, other) =>
  one.sourceStart === other.sourceStart && one.sourceEnd === other.sourceEnd && one.right === other.right;

export function moved(change, source, target) {
  const { sourceStart, sourceEnd, targetStart, targetEnd } = change;
  const places = { sourceStart: sourceStart + source, sourceEnd: sourceEnd + source };
  return { ...change, ...places, targetStart: targetStart + target, targetEnd: targetEnd + target };
}

/** A change of `text` at a span [start, end]. */
export function changeAt([sourceStart, sourceEnd], text, right) {
  return { sourceStart, sourceEnd, wrong: text.slice(sourceStart, sourceEnd), right };
}

/** The places where two texts differ: first without white space, then between the letters that both share. */
export function findChanges(source, target) {
  const common = commonLetters(source, target);
  const changes = [];
  for (let i = 1; i < common.length; i += 1) {
    const [[first, one], [last, other]] = [common[i - 1], common[i]];
    if (last - first > 1 || other - one > 1)
      changes.push(...differences(source, target, [first + 1, last], [one + 1, other]));
  }
  return changes;
}

function commonLetters(source, target) {
  const places = (text) => upTo(text.length).filter((i) => !isSpace(text[i]));
  const [letters, others] = [places(source), places(target)];
  const common = [[-1, -1]];
  const said = (text, at) => at.map((i) => text[i]);
  for (const { tag, start, end, first } of opcodes(said(source, letters), said(target, others)))
    if (tag === "equal")
      common.push(...upTo(end - start).map((i) => [letters[start + i], others[first + i]]));
  return [...common, [source.length, target.length]];
}

function differences(source, target, [from, to], [begin, stop]) {
  const found = [];
  let open = null;
  for (const { tag, start, end, first, last } of opcodes(source.slice(from, to), target.slice(begin, stop))) {
    if (tag === "equal") open = null;
    else if (open) [open.end, open.last] = [end, last];
    else found.push((open = { start, end, first, last }));
  }
  return found.map(({ start, end, first, last }) => {
    const [targetStart, targetEnd] = [begin + first, begin + last];
    const right = target.slice(targetStart, targetEnd);
    return { ...changeAt([from + start, from + end], source, right), targetStart, targetEnd };
  });
}

/** The text that results from making only these changes. */
export function applyChanges(source, changes) {
  let [text, done] = ["", 0];
  for (const { sourceStart, sourceEnd, right } of changes) {
    text += source.slice(done, sourceStart) + right;
    done = sourceEnd;
  }
  return text + source.slice(done);
}

/** The changes that `accepts` holds true of, with the offsets they have once only they are made. */
export function selectChanges(changes, accepts) {
  const selected = [];
  let drift = 0;
  for (const change of changes)
    if (accepts(change)) selected.push(moved(change, 0, -drift));
    else drift += growth(change);
  return selected;
}

/** The changes of one source, in order, with the places that they have in the text with all of them. */
export function inOrder(changes) {
  let drift = 0;
  const byPlace = (one, other) => one.sourceStart - other.sourceStart || one.sourceEnd - other.sourceEnd;
  return [...changes].sort(byPlace).map((change) => {
    const targetStart = change.sourceStart + drift;
    drift += growth(change);
    return { ...change, targetStart, targetEnd: targetStart + change.right.length };
  });
}

// --- Cuts a text into sentences, as model/text/tokenizer.py. A span is [start, end].

/** The parts of some spans between `start` and `end`, counted from `start`. */
export function clipped(spans, start, end) {
  const inside = spans.filter(([a, b]) => a < end && b > start);
  return inside.map(([a, b]) => [Math.max(a, start) - start, Math.min(b, end) - start]);
}

export function splitSentences(text, longest, rules) {
  const again = ([start, end]) => repetitions(text, start, end, rules);
  const whole = [text.length - stripStart(text).length, stripEnd(text).length];
  const sentences = again(whole).flatMap((said) => sentencesOf(text, said, rules));
  return sentences.flatMap(again).flatMap(([start, end]) => parts(text, start, end, longest));
}

function sentencesOf(text, [first, end], rules) {
  const spans = [];
  let start = first;
  for (const [gap, stop] of spansOf(rules.patterns.boundary, text.slice(0, end))) {
    if (gap < start) continue;
    if (gap > start) spans.push([start, gap]);
    start = stop;
  }
  return start < end ? [...spans, [start, end]] : spans;
}

/** The repetitions of which a part of a text consists; the part itself if it repeats nothing. */
function repetitions(text, start, end, { numbers }) {
  const said = text.slice(start, end);
  const gaps = spansOf(GAPS, said).map(([, behind]) => behind);
  const joined = new Set(said).size > 1 ? between(numbers.LEAST_JOINED, said.length) : [];
  const periods = gaps.length ? gaps : joined;
  const least = gaps.length ? numbers.LEAST_REPETITIONS : numbers.LEAST_REPETITIONS_JOINED;
  for (const period of periods) {
    if (period * (least - 1) >= said.length) break;
    const length = ((said.length - 1) % period) + 1;
    if (!said.startsWith(said.slice(period)) || [...said.slice(length, period)].some(isLetterOrNumber))
      continue;
    const spans = [];
    for (let first = start; first < end; first += period) spans.push([first, first + length]);
    return spans;
  }
  return start < end ? [[start, end]] : [];
}

function parts(text, start, end, longest) {
  const found = [];
  const gaps = spansOf(GAPS, text.slice(start, end)).map((gap) => gap.map((place) => start + place));
  const behind = (place) => gaps.filter(([from]) => from <= place).length; // bisect_right
  while (end - start > longest) {
    const [first, last] = [behind(start), behind(start + longest)];
    if (first === gaps.length) break;
    const even = start + (end - start) / Math.ceil((end - start) / longest);
    const near = first < last ? gaps.slice(first, last) : gaps.slice(first, first + 1);
    const cut = near.reduce((best, gap) => (Math.abs(gap[0] - even) < Math.abs(best[0] - even) ? gap : best));
    found.push([start, cut[0]]);
    start = cut[1];
  }
  return [...found, [start, end]];
}
