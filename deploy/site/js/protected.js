// Protected text, forbidden changes, anchors and the passages between; port of model/text/.
import { applyChanges, clipped, isHangul, isLetterOrNumber, isSpace, movesSpaces } from "./text.js";
import { opcodes, spansOf, stripEnd, stripStart, WORDS } from "./text.js";

// --- Which changes no correction may make, as model/text/protected.py.

const SEPARATORS = "\x1c\x1d\x1e\x1f\x85"; // white space to Python, but never typed as a space

export function isProtected(character, { marks }) {
  const isGap = isSpace(character) && !SEPARATORS.includes(character);
  return !(isHangul(character) || isGap || marks.free.includes(character));
}

export const outcries = (text, rules) => spansOf(rules.patterns.outcry, text);
export const verbatimSpans = (text, rules) => spansOf(rules.patterns.verbatim, text);
export const keptSpans = (text, rules) => spansOf(rules.patterns.kept, text);

/** Whether a change alters letters of a word of dialect, or of the word before it. */
export function isDialect(change, source, { patterns }) {
  if (movesSpaces(change)) return false;
  const behind = change.sourceEnd;
  const between = (start) => source.slice(behind, Math.max(start, behind)).match(WORDS) ?? [];
  const concerns = ([start, end]) => change.sourceStart < end && between(start).length <= 1;
  return spansOf(patterns.dialect, source).some(concerns);
}

/** Whether the change loses, alters or invents no protected character. */
function sparesProtected({ wrong, right }, source, rules) {
  const kept = (text) => [...text].filter((character) => isProtected(character, rules)).join("");
  return kept(wrong) === kept(right);
}

function sparesOutcries(change, source, rules) {
  const cries = (text) => String(outcries(text, rules).map((span) => text.slice(...span)));
  return cries(source) === cries(applyChanges(source, [change]));
}

/** Whether it neither adds a mark beside one that ends a sentence nor takes one away there. */
function sparesEmphasis({ sourceStart, sourceEnd, wrong, right }, source, { marks }) {
  const isEnd = (character) => character !== undefined && marks.ends.includes(character);
  return ![...wrong, ...right].every(isEnd) || !(isEnd(source[sourceStart - 1]) || isEnd(source[sourceEnd]));
}

/** Whether it puts no space beside another or within brackets' edges, and moves none beside mark-up. */
function sparesGaps({ sourceStart, sourceEnd, wrong, right }, source, { marks }) {
  const [before, after] = [source[sourceStart - 1] ?? "", source[sourceEnd] ?? ""];
  const in_ = (characters, one) => one !== "" && characters.includes(one);
  if (movesSpaces({ wrong, right }) && (in_(marks.markup, before) || in_(marks.markup, after))) return false;
  if (wrong || ![...right].every(isSpace)) return true;
  return !(isSpace(before) || isSpace(after) || in_(marks.opening, before) || in_(marks.closing, after));
}

function sparesVerbatim(change, verbatim) {
  const { sourceStart, sourceEnd } = change;
  const [first, last] = movesSpaces(change) ? [sourceStart - 1, sourceEnd + 1] : [sourceStart, sourceEnd];
  return !verbatim.some(
    ([start, end]) => (first < end && start < last) || (start < sourceStart && sourceStart < end),
  );
}

const hasHangul = (text) => [...text].some(isHangul);
const syllables = (text) => [...text].filter(isHangul).length;
const jamo = (text) => [...text.normalize("NFD")];

/** Whether each word that the change covers stays, in any spelling, and no other has come. */
function sparesWords(change, source, { numbers }) {
  const { wrong, right, sourceStart } = change;
  if (!hasHangul(wrong) && !hasHangul(right)) return true;
  if (syllables(right) - syllables(wrong) > numbers.MOST_NEW) return false;
  const covered = coveredWords(change, source);
  if (!hasHangul(right)) return !covered.length || (covered.length === 1 && isDoubled(covered[0], source));
  if (!hasHangul(wrong)) return isBesideLetters(change, source);
  const kept = keptJamo(change);
  const shares = covered.map(({ start, end }) => {
    const [first, last] = [start, end].map((place) => jamo(wrong.slice(0, place - sourceStart)).length);
    return kept.slice(first, last).filter(Boolean).length / (last - first);
  });
  const joins = isSpace(wrong[0]) && !isSpace(right[0]); // to the word before, which the source set apart
  if (joins && shares.some((share) => share <= numbers.LEAST_ALIKE_JOINED)) return false;
  const gone = shares.filter((share) => share < numbers.LEAST_ALIKE);
  return !gone.length || (gone.length === 1 && syllables(right) >= syllables(wrong));
}

/** Whether a change of a part of a text breaks none of these rules. */
export function sparesAll(change, { text, verbatim, kept }, rules) {
  const all = [sparesProtected, sparesOutcries, sparesEmphasis, sparesGaps, sparesWords];
  return all.every((spares) => spares(change, text, rules)) && sparesVerbatim(change, [...verbatim, ...kept]);
}

/** The words of Hangul that the change covers from their beginning to their end. */
function coveredWords({ sourceStart, sourceEnd }, source) {
  const isEdge = (place) => !isLetterOrNumber(source[place] ?? "");
  const [beginsWord, endsWord] = [isEdge(sourceStart - 1), isEdge(sourceEnd)];
  const words = spansOf(WORDS, source.slice(sourceStart, sourceEnd)).map(([first, last]) => {
    const [start, end] = [sourceStart + first, sourceStart + last];
    return { start, end, word: source.slice(start, end) };
  });
  const isWhole = ({ start, end }) => (start > sourceStart || beginsWord) && (end < sourceEnd || endsWord);
  return words.filter((each) => hasHangul(each.word) && isWhole(each));
}

/** For each jamo of `wrong` whether it stands in `right`, too, in this order. */
function keptJamo({ wrong, right }) {
  const kept = Array(jamo(wrong).length).fill(false);
  for (const { tag, start, end } of opcodes(jamo(wrong), jamo(right)))
    if (tag === "equal") kept.fill(true, start, end);
  return kept;
}

/** Whether the word stands there exactly twice in a row, in a text of more words. */
function isDoubled({ word }, source) {
  const words = source.match(WORDS) ?? [];
  let [run, longest] = [0, 0];
  for (const each of words) longest = Math.max(longest, (run = each === word ? run + 1 : 0));
  return longest === 2 && words.length > 2;
}

/** Whether the inserted text belongs to a word that is already there. */
function isBesideLetters({ sourceStart, sourceEnd, right }, source) {
  const joinsBefore = isHangul(source[sourceStart - 1] ?? "") && !isSpace(right[0]);
  const joinsAfter = isHangul(source[sourceEnd] ?? "") && !isSpace(right.at(-1));
  return joinsBefore || joinsAfter;
}

// --- Anchors, which a correction has to copy, as model/text/passages.py. A part of a sentence is
// {start, text, anchors, verbatim, kept}; spans count from the start of its text.

export function partOf(text, verbatim, kept, rules) {
  return { start: 0, text, anchors: anchorsOf(text, verbatim, rules), verbatim, kept };
}

export function hasProse({ text, verbatim }) {
  return [...text].some((character, i) => isHangul(character) && !verbatim.some(([a, b]) => a <= i && i < b));
}

function anchorsOf(text, verbatim, rules) {
  const copied = new Set();
  for (const [start, end] of [...verbatim, ...outcries(text, rules)])
    for (let i = start; i < end; i += 1) copied.add(i);
  const kinds = [...text].map((character, i) => (copied.has(i) ? 2 : Number(isProtected(character, rules))));
  const found = [];
  let start = 0;
  for (let i = 1; i <= text.length; i += 1)
    if (i === text.length || kinds[i] !== kinds[start]) {
      if (kinds[start]) found.push([start, i]);
      start = i;
    }
  return found;
}

/** The anchors that `target` does not copy at their place; all, where it has more protected characters. */
export function lostAnchors({ text, anchors, verbatim }, target, rules) {
  if (!anchors.length) return [];
  const places = new Map();
  for (const { tag, start, end, first } of opcodes(text, target))
    if (tag === "equal") for (let i = 0; i < end - start; i += 1) places.set(start + i, first + i);
  const inside = ([a, b]) => verbatim.filter(([start, end]) => a <= start && end <= b);
  const isAlike = (span) => hasSameSpaces(span, text, target, places);
  const lost = anchors.filter((anchor) => !isCopied(anchor, places) || !inside(anchor).every(isAlike));
  const count = (said) => [...said].filter((character) => isProtected(character, rules)).length;
  return !lost.length && count(target) > count(text) ? anchors : lost;
}

function isCopied([start, end], places) {
  for (let i = start; i < end; i += 1) if (places.get(i) !== places.get(start) + i - start) return false;
  return places.has(start);
}

/** Whether a copied span has white space before and after it in the target as in the source. */
function hasSameSpaces([start, end], source, target, places) {
  const [from, to] = [places.get(start), places.get(end - 1) + 1];
  const gap = (text, at) => isSpace(text[at] ?? "");
  return gap(source, start - 1) === gap(target, from - 1) && gap(source, end) === gap(target, to);
}

/** The parts before, between and after these anchors that hold prose. */
export function partsBeside(part, anchors, { marks }) {
  const { text } = part;
  const starts = [0, ...anchors.map(([, end]) => end)].map((start) => start + particle(text, start, marks));
  const ends = [...anchors.map(([start]) => start), text.length];
  return starts.flatMap((start, i) => (start < ends[i] ? [cut(part, start, ends[i])] : [])).filter(hasProse);
}

/** 1 for a lone particle behind a closing bracket, which is too little to read and is skipped; else 0. */
function particle(text, start, marks) {
  const isLone = /^[가-힣](?![가-힣ㄱ-ㅣ])/.test(text.slice(start));
  return Number(start > 0 && marks.closing.includes(text[start - 1]) && isLone);
}

function cut({ start: before, text, anchors, verbatim, kept }, start, end) {
  const piece = text.slice(start, end);
  const first = start + piece.length - stripStart(piece).length;
  const last = end - piece.length + stripEnd(piece).length;
  const [own, copied, left] = [anchors, verbatim, kept].map((spans) => clipped(spans, first, last));
  return { start: before + first, text: text.slice(first, last), anchors: own, verbatim: copied, kept: left };
}
