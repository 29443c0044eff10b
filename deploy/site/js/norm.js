// Article of the spelling norm, or teacher's reason, of a change; port of model/norm/.
import { between, grouped } from "./numbers.js";
import { compose, decompose, spansOf } from "./text.js";

/** [wrong, right, boundary, isCertain, kind] by the first two characters of wrong; made once. */
function rowsOf(rules) {
  const rows = () => rules.keys.misspellings.split("\n").map((line) => line.split("\t"));
  return (rules.rows ??= grouped(rows(), ([wrong]) => wrong.slice(0, 2)));
}

/** The rows whose wrong form begins with the characters of `text` at `start`, and stands there. */
export function rowsAt(text, start, rules) {
  const begun = rowsOf(rules).get(text.slice(start, start + 2)) ?? [];
  return begun.filter(([wrong]) => text.startsWith(wrong, start));
}

/** Whether `text` has an end of a word where `boundary` demands one for text[start:end]. */
export function isBounded(text, start, end, boundary, { patterns }) {
  const isWord = (character = "") => /[\p{L}\p{N}]/u.test(character);
  if (["left", "both", "noun"].includes(boundary) && isWord(text[start - 1])) return false;
  if (boundary === "noun") return spansOf(patterns.after_noun, text.slice(end))[0]?.[0] === 0;
  return !["right", "both"].includes(boundary) || !isWord(text[end]);
}

/**
 * [kind, article, Korean, English, its name in English] of a well-known mistake, else of articleOf; undefined
 * without one. Two kinds are joined by +. `before` and `after`: the text around the change, rightly spelt.
 */
export function explanationOf(wrong, right, before, after, rules) {
  [before, after] = near(before, after, rules);
  const [text, first, last] = [before + right + after, before.length, before.length + right.length];
  const explains = (_, number) => {
    const [spelt, typed] = ["right", "wrong"].map((side) => rules.patterns[`reason_${number}_${side}`]);
    return spansOf(spelt, text).some(([start, end]) => {
      if (start > first || last > end) return false;
      return spansOf(typed, text.slice(start, first) + wrong + text.slice(last, end)).length > 0;
    });
  };
  return rules.keys.reasons.find(explains) ?? articleOf(wrong, right, before, after, rules);
}

/** The article of the longest row of the norm that makes this change, else of its first rule that does. */
export function articleOf(wrong, right, before, after, rules) {
  [before, after] = near(before, after, rules);
  const letters = [...wrong.replaceAll(" ", "")]; // 안되 for 안 돼: put the space right first
  const isAsLong = letters.length === right.replaceAll(" ", "").length;
  const spaced = isAsLong ? right.replace(/[^ ]/g, () => letters.shift()) : wrong;
  for (const each of new Set([wrong, spaced])) {
    if (each === right) continue;
    const rows = rowsThatMake(each, right, before, after, rules);
    const [longest] = rows.sort((one, other) => other[1].length - one[1].length);
    const kind = longest?.[4] ?? kindOfRule(each, right, before, after, rules);
    if (kind !== undefined) return rules.keys.articles[kind];
  }
  return undefined;
}

/** Whether a change to `right` makes a misspelling that a certain kind of the norm has. */
export function spoils(wrong, right, before, after, rules) {
  const rows = rowsThatMake(right, wrong, ...near(before, after, rules), rules);
  return rows.some(([, , , isCertain]) => isCertain);
}

/** The texts around a change as far as the norm reads them. */
const near = (before, after, { numbers: { BESIDE } }) => [before.slice(-BESIDE), after.slice(0, BESIDE)];

/** The rows that make `wrong` of `right` between these texts. */
function rowsThatMake(wrong, right, before, after, rules) {
  const [text, mistaken] = [before + right + after, before + wrong + after];
  const makesIt = (start, [typed, spelt, boundary]) =>
    mistaken.slice(0, start) + spelt + mistaken.slice(start + typed.length) === text &&
    mistaken.startsWith(typed, start) &&
    isBounded(text, start, start + spelt.length, boundary, rules);
  return between(0, mistaken.length).flatMap((start) => {
    const beginnings = new Set([mistaken[start], mistaken.slice(start, start + 2)]);
    const begun = [...beginnings].flatMap((each) => rowsOf(rules).get(each) ?? []);
    return begun.filter((row) => makesIt(start, row));
  });
}

/** The number of the kind with a rule that makes `wrong` of `right`; undefined without one. */
function kindOfRule(wrong, right, before, after, rules) {
  const [text, mistaken] = [before + right + after, before + wrong + after];
  const makesIt = ([, spellings], number) => {
    let isMade = false;
    text.replace(rules.patterns[`rule_${number}`], (match, ...more) => {
      const [groups, start] = [[match, ...more.slice(0, -2)], more.at(-2)];
      const end = start + match.length;
      if (start > before.length + right.length || before.length > end) return;
      const written = (each) => text.slice(0, start) + expanded(each, groups, rules.keys) + text.slice(end);
      isMade ||= spellings.some((each) => written(each) === mistaken);
    });
    return isMade;
  };
  return rules.keys.rules.find(makesIt)?.[0];
}

/** A wrong spelling of a rule for the groups of its match, as Rule.spellings of model/norm/kinds.py. */
function expanded(template, groups, keys) {
  const [REFERENCE, NONE] = [/\\(\d)(?:\+([ㄱ-ㅎ-])|:([가-힣]+)→([가-힣]+))?/g, "-"];
  return template.replace(REFERENCE, (_, number, coda, from, to) => {
    const text = groups[number];
    if (from) return text.replace(/[^]/g, (letter) => to[from.indexOf(letter)] ?? letter);
    if (!coda) return text;
    const [initial, medial] = decompose(text.at(-1), keys);
    return text.slice(0, -1) + compose(initial, medial, coda === NONE ? "" : coda, keys);
  });
}
