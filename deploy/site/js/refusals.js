// Which changes no correction may make, as model/text/protected.py, verbatim.py and whole_words.py.
import { WORDS, isHangul, isLetterOrNumber, isSpace, spansOf } from "./characters.js";
import { applyChanges, movesSpaces } from "./changes.js";
import { opcodes } from "./levenshtein.js";

const SEPARATORS = "\x1c\x1d\x1e\x1f\x85"; // white space to Python that nobody types for a space

export function isProtected(character, { marks }) {
  const isGap = isSpace(character) && !SEPARATORS.includes(character);
  return !(isHangul(character) || isGap || marks.free.includes(character));
}

export const outcries = (text, rules) => spansOf(rules.patterns.outcry, text);
export const verbatimSpans = (text, rules) => spansOf(rules.patterns.verbatim, text);

/** Whether the change loses, alters or invents no protected character. */
export function sparesProtected({ wrong, right }, rules) {
  const kept = (text) => [...text].filter((character) => isProtected(character, rules)).join("");
  return kept(wrong) === kept(right);
}

export function sparesOutcries(change, source, rules) {
  const cries = (text) => outcries(text, rules).map(([start, end]) => text.slice(start, end)).join("\n");
  return cries(source) === cries(applyChanges(source, [change]));
}

/** Whether it neither adds a mark beside one that ends a sentence nor takes one away there. */
export function sparesEmphasis({ sourceStart, sourceEnd, wrong, right }, source, { marks }) {
  const isEnd = (character) => character !== undefined && marks.ends.includes(character);
  return ![...wrong, ...right].every(isEnd) || !(isEnd(source[sourceStart - 1]) || isEnd(source[sourceEnd]));
}

/** Whether it puts no space beside white space, behind an opening bracket or before a closing one, and moves none beside mark-up. */
export function sparesGaps({ sourceStart, sourceEnd, wrong, right }, source, { marks }) {
  const [before, after] = [source[sourceStart - 1] ?? "", source[sourceEnd] ?? ""];
  const in_ = (characters, one) => one !== "" && characters.includes(one);
  if (movesSpaces({ wrong, right }) && (in_(marks.markup, before) || in_(marks.markup, after))) return false;
  if (wrong || ![...right].every(isSpace)) return true;
  return !(isSpace(before) || isSpace(after) || in_(marks.opening, before) || in_(marks.closing, after));
}

export function sparesVerbatim(change, verbatim) {
  const { sourceStart, sourceEnd } = change;
  return !verbatim.some(
    ([start, end]) =>
      (sourceStart < end && start < sourceEnd) ||
      (start < sourceStart && sourceStart < end) ||
      (movesSpaces(change) && sourceStart <= end && start <= sourceEnd)
  );
}

const hasHangul = (text) => [...text].some(isHangul);
const syllables = (text) => [...text].filter(isHangul).length;
const jamo = (text) => [...text.normalize("NFD")];

/** Whether each word of `source` that the change covers is still there, written in whatever way, and no other has come. */
export function sparesWords(change, source, { numbers }) {
  const { wrong, right, sourceStart, sourceEnd } = change;
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

/** The words of Hangul that the change covers from their beginning to their end. */
function coveredWords({ sourceStart, sourceEnd }, source) {
  const [beginsWord, endsWord] = [sourceStart - 1, sourceEnd].map((place) => !isLetterOrNumber(source[place] ?? ""));
  return [...source.slice(sourceStart, sourceEnd).matchAll(WORDS)]
    .map(({ index, 0: word }) => ({ start: sourceStart + index, end: sourceStart + index + word.length, word }))
    .filter(({ start, end, word }) => hasHangul(word) && (start > sourceStart || beginsWord) && (end < sourceEnd || endsWord));
}

/** For each jamo of `wrong` whether it stands in `right`, too, in this order. */
function keptJamo({ wrong, right }) {
  const kept = Array(jamo(wrong).length).fill(false);
  for (const { tag, start, end } of opcodes(jamo(wrong), jamo(right))) if (tag === "equal") kept.fill(true, start, end);
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
