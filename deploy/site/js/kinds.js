// Kind of a mistake, and the reason why a change is right; port of model/analysis/kinds.py.
import { explanationOf } from "./norm.js";
import { upTo } from "./numbers.js";
import { carriedOver, rulesBetween, soundTheSame, wayAlike } from "./sounds.js";
import { decompose, distance, findChanges, isHangul, isLetterOrNumber } from "./text.js";
import { isSpace, isSyllable, squeezed } from "./text.js";

const CONTEXT = 2; // characters on each side
const HEARD_LETTERS = "ㄱㄴㄷㄹㅁㅂㅅㅇ";
const BY_DIFFERENCE = { spacing: "spacing", liaison: "sound", sound: "sound", jamo: "slip" };

/**
 * {kinds, article, rules, isSameSound} of a change from `source` to `target`; article: [its name, its content]
 * in Korean, then in English, or null.
 */
export function reasonOf(change, source, target, rules) {
  const { wrong, right, targetStart, targetEnd } = change;
  const kind = kindOf(change, source, target, rules.keys);
  const spacing = kind !== "spacing" && movesASpace(change) ? ["spacing"] : [];
  const isByEar = BY_DIFFERENCE[kind] === "sound";
  const pairs = isByEar ? inContext(change, source, target) : [];
  const isSameSound = pairs.some((pair) => soundTheSame(...pair, rules.keys));
  const found = explanationOf(wrong, right, target.slice(0, targetStart), target.slice(targetEnd), rules);
  if (found) {
    const [heard, other, ...article] = found;
    const kinds = [...(isSameSound ? heard : other).split("+"), ...spacing];
    return { kinds: [...new Set(kinds)], article, rules: [], isSameSound: false };
  }
  const alike = isByEar && !isSameSound ? "alike" : (BY_DIFFERENCE[kind] ?? otherKind(change));
  const [pair] = pairs.filter(([one, other]) => wayAlike(one, other, rules.keys));
  const of = pair ? rulesBetween(...pair, rules.keys) : [];
  const named = of.filter((rule) => (rule === "vowel") !== isSameSound);
  return { kinds: [alike, ...spacing], article: null, rules: named, isSameSound };
}

function kindOf(change, source, target, keys) {
  const { wrong, right } = change;
  if (squeezed(wrong) === squeezed(right)) return "spacing";
  if (isStrayCoda(wrong, right, keys)) return "jamo";
  const pair = inContext(change, source, target).find(([one, other]) => wayAlike(one, other, keys));
  if (pair) return hasLiaison(...pair, keys) ? "liaison" : "sound";
  return isOneJamo(wrong, right, keys) ? "jamo" : "word";
}

/** Whether white space is added or removed between letters, or moved among as many characters. */
function movesASpace({ wrong, right }) {
  if (!squeezed(wrong) || !squeezed(right)) return false; // a word that goes takes its space along
  const [typed, corrected] = [wrong, right].map((text) => [...text].map((letter) => isSpace(letter)));
  const count = (spaces) => spaces.filter(Boolean).length;
  if (typed.length !== corrected.length) return count(typed) !== count(corrected);
  return typed.some((space, place) => space !== corrected[place]);
}

/**
 * [typed, corrected] of the change between its neighbours, once with these corrected and once as they were
 * typed; then the same with each change near it.
 */
function inContext(change, source, target) {
  const byPlace = (one, other) => one.sourceStart - other.sourceStart || one.targetStart - other.targetStart;
  const together = findChanges(source, target).map((each) => [change, each].sort(byPlace));
  const near = together.filter(([first, last]) => last.sourceStart - first.sourceEnd <= CONTEXT);
  return [[change, change], ...near].flatMap(([first, last]) => {
    const [from, to] = [first.sourceStart, last.sourceEnd];
    const [start, end] = [first.targetStart, last.targetEnd];
    const between = (text, begin, stop) => {
      const before = text.slice(Math.max(begin - CONTEXT, 0), begin);
      const after = text.slice(stop, stop + CONTEXT);
      return [source.slice(from, to), target.slice(start, end)].map((said) => before + said + after);
    };
    return [between(target, start, end), between(source, from, to)];
  });
}

/** Whether a coda of one text is the next onset in the other, syllable for syllable. */
function hasLiaison(typed, corrected, keys) {
  const [one, other] = [squeezed(typed), squeezed(corrected)];
  if (one.length !== other.length) return false;
  return upTo(Math.max(one.length - 1, 0)).some((i) => {
    const [moved, kept] = [one.slice(i, i + 2), other.slice(i, i + 2)];
    return carries(moved, kept, keys) || carries(kept, moved, keys);
  });
}

function carries(moved, kept, keys) {
  if (![...moved, ...kept].every(isSyllable)) return false;
  const [[, , coda], [initial]] = [...kept].map((syllable) => decompose(syllable, keys));
  const [[, , left], [onset]] = [...moved].map((syllable) => decompose(syllable, keys));
  return initial === "ㅇ" && left !== coda && carriedOver(coda, keys).includes(onset);
}

function isOneJamo(wrong, right, keys) {
  if (![...wrong, ...right].every((letter) => isHangul(letter) || isSpace(letter))) return false;
  const slotsOf = (text) => [...text].flatMap((each) => (isSyllable(each) ? decompose(each, keys) : [each]));
  const [one, other] = [wrong, right].map(slotsOf);
  const apart = one.filter((jamo, place) => jamo !== other[place]).length;
  if (one.length === other.length && apart === 1) return true;
  const strokes = Object.fromEntries(Object.entries(keys.joined).map(([typed, jamo]) => [jamo, typed]));
  const typed = (slots) => slots.map((jamo) => strokes[jamo] ?? jamo).join("");
  return isOneKey(typed(one), typed(other));
}

/** Whether one key is another, missing, too much or swapped with the next one. */
function isOneKey(one, other) {
  const swapped = (at) => one.slice(0, at) + one[at + 1] + one[at] + one.slice(at + 2);
  return distance(one, other) <= 1 || upTo(one.length - 1).some((at) => swapped(at) === other);
}

/** Whether one syllable differs in its coda only and is not in use. */
function isStrayCoda(wrong, right, keys) {
  if (wrong.length !== 1 || right.length !== 1 || !isSyllable(wrong) || !isSyllable(right)) return false;
  const [[initial, medial, coda], [onset, vowel]] = [wrong, right].map((each) => decompose(each, keys));
  if (initial !== onset || medial !== vowel || !coda || HEARD_LETTERS.includes(coda)) return false;
  return !keys.in_use.includes(wrong);
}

/** `punctuation` where the letters and digits are the same, else `other`. */
function otherKind({ wrong, right }) {
  const [one, other] = [wrong, right].map((text) => [...text].filter(isLetterOrNumber).join(""));
  return one === other ? "punctuation" : "other";
}
