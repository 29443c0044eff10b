// Candidates, proposed changes, second reading, and agreement of repeated words.
// Ports of model/correction/.
import { END_ID, logSoftmax, OUTSIDE_ID, PAD_ID, START_ID } from "./network.js";
import { isDialect } from "./protected.js";
import { between, grouped, sum } from "./numbers.js";
import { applyChanges, confidence, findChanges, growthOf, inOrder, isSameChange, meet } from "./text.js";
import { moved, selectChanges, spansOf } from "./text.js";

// --- What else the network could have written, as model/correction/candidates.py. A stretch is
// {start, end, kept, candidates: Map of text -> log probability, written, isChanged}.

export function findStretches(source, target, produced, tokenizer, accepts, { numbers }) {
  const log = logSoftmax(produced);
  const written = findChanges(source, target);
  const others = othersOf(produced, log, tokenizer, numbers);
  const own = written.map(({ targetStart, targetEnd }) => [targetStart, targetEnd]);
  const edits = [...own, ...others.map(({ first, last }) => [first, last])];
  const original = tokenizer.encodeTarget(source);
  const stretches = [];
  for (const [first, last] of together(edits)) {
    const stop = Math.max(last, first + 1);
    const drift = growthOf(written.filter((c) => c.targetEnd <= first && first > c.targetStart));
    const begins = ({ targetStart }) => first <= targetStart && targetStart < stop;
    const inside = written.filter((c) => c.targetEnd <= last && begins(c));
    const [start, end] = [first - drift, last - drift - growthOf(inside)];
    const kept = source.slice(start, end);
    const isAccepted = (change) => accepts(moved(change, start, start));
    const accepted = (text) => applyChanges(kept, findChanges(kept, text).filter(isAccepted));

    const certain = sum(between(first, stop).map((t) => log(t, produced.ids[t])));
    const candidates = new Map([[accepted(target.slice(first, last)), certain]]);
    for (const other of others)
      if (first <= other.first && other.first < stop && other.last <= last) {
        const text = target.slice(first, other.first) + other.text + target.slice(other.last, last);
        if (text === accepted(text) && !candidates.has(text)) candidates.set(text, certain + other.ratio);
      }
    if (!candidates.has(kept)) {
      const same = commonStart(kept, target.slice(first, last));
      candidates.set(kept, log(first + same, original[start + same]));
    }
    const [answer] = candidates.keys();
    const found = { start, end, kept, candidates, written: answer, isChanged: answer !== kept };
    if (candidates.size > 1) stretches.push(found);
  }
  return stretches;
}

function commonStart(one, other) {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return same;
}

/** All that the network might have written in place of one token, the most probable first. */
function othersOf({ ids, size }, log, tokenizer, { LEAST_PROBABILITY, MOST }) {
  const least = Math.log(LEAST_PROBABILITY);
  const never = [PAD_ID, START_ID, OUTSIDE_ID];
  const rated = [];
  for (let t = 0; t < ids.length; t += 1)
    for (let token = 0; token < size; token += 1) {
      const own = log(t, token);
      if (own <= least || token === ids[t] || never.includes(token)) continue;
      rated.push([own - log(t, ids[t]), t, token]);
    }
  rated.sort((one, other) => other[0] - one[0] || other[1] - one[1] || other[2] - one[2]);
  const edits = ([ratio, t, token]) =>
    instead(ids, t, token, tokenizer).map(([count, text]) => ({ first: t, last: t + count, text, ratio }));
  return rated.slice(0, MOST).flatMap(edits);
}

/** The ways in which `token` can stand at place `t`: how many characters it replaces, and the new text. */
function instead(ids, t, token, tokenizer) {
  // elsewhere it would cut the sentence off
  if (token === END_ID) return t === ids.length - 2 ? [[1, ""]] : [];
  const text = tokenizer.decode([token], "");
  if (ids[t] === END_ID) return [[0, text]];
  const follows = token === ids[t + 1];
  const found = follows ? [[1, ""]] : []; // the answer's own token is left out
  const there = tokenizer.decode([ids[t]], "");
  if (there !== " " && text !== " ") found.push([1, text]);
  else if (!follows) found.push([0, text]);
  return found;
}

/** The stretches of the answer that edits of the same tokens cover. */
function together(edits) {
  const spans = [];
  for (const [first, last] of edits.sort((one, other) => one[0] - other[0] || one[1] - other[1])) {
    const before = spans.at(-1);
    if (before && (first < before[1] || first === before[0])) before[1] = Math.max(before[1], last);
    else spans.push([first, last]);
  }
  return spans;
}

// --- From chosen candidates to proposed changes, and a second reading; as model/correction/proposing.py.

/** The changes that the chosen candidates make, each with its confidence. */
export function changesOf(source, chosen, accepts, rules) {
  const kept = withoutSpoilers(chosen);
  const part = ({ stretch, text }) => ({ sourceStart: stretch.start, sourceEnd: stretch.end, right: text });
  const changes = findChanges(source, applyChanges(source, kept.map(part)));
  const offered = (change) => offeredInDialect(rated(change, kept), source, rules);
  return selectChanges(changes, accepts).map(offered);
}

/** `change`, no surer than an offer where it is of a dialect form in quotes. */
export function offeredInDialect(change, source, rules) {
  if (!isDialect(change, source, rules)) return change;
  return { ...change, knownConfidence: Math.min(confidence(change), rules.numbers.OFFERED) };
}

/** Drops a choice where the network changed nothing, if it touches a surer one where it did. */
function withoutSpoilers(chosen) {
  const changed = chosen.filter(({ stretch }) => stretch.isChanged);
  const spoils = (surer, each) =>
    surer.confidence > each.confidence && touches(each, surer.stretch.start, surer.stretch.end);
  return chosen.filter((each) => each.stretch.isChanged || !changed.some((surer) => spoils(surer, each)));
}

const touches = ({ stretch }, start, end) => stretch.start <= end && start <= stretch.end;

function rated(change, chosen) {
  const touched = chosen.filter((each) => touches(each, change.sourceStart, change.sourceEnd));
  const least = leastSure(touched.length ? touched : chosen, (each) => each.confidence);
  const isFirstChoice = touched.every(({ text, stretch }) => text === stretch.written);
  const insteadOf = isFirstChoice ? null : touched.map(({ stretch }) => stretch.written).join("");
  return { ...change, knownConfidence: least.confidence, insteadOf };
}

const lettersOf = (text) => text.replace(/[^\p{L}\p{N}]/gu, "");
const wordsOf = (text) => text.split(/\s+/u).filter(Boolean).join(" ");

/** Whether letters are lost, or several words change both their letters and their spaces. */
function loses({ wrong, right }) {
  const [typed, written] = [wrong, right].map(lettersOf);
  const isDivided = wrong.trim().includes(" ") && wordsOf(wrong) !== wordsOf(right);
  return [...written].length < [...typed].length || (isDivided && typed !== written);
}

/**
 * Whether the network still finds the change of `source` possible with all other proposals made. A change
 * that removes letters needs more.
 */
export function isSupported(change, source, numbers) {
  if (losesBeginning(change, source)) return change.fix >= numbers.PROBABILITY_OF_LOST_BEGINNING;
  return change.fix >= (loses(change) ? numbers.PROBABILITY_OF_LOSS : numbers.LEAST_PROBABILITY);
}

function losesBeginning({ sourceStart, sourceEnd, wrong, right }, source) {
  const isWord = (text) => text !== "" && lettersOf(text) === text;
  let [start, end] = [sourceStart, sourceEnd];
  // The first of two equal ones.
  while (start && source[start - 1] === source[end - 1]) [start, end] = [start - 1, end - 1];
  return !right && isWord(wrong) && !isWord(source[start - 1] ?? "") && isWord(source[sourceEnd] ?? "");
}

/** A function that gives a change its probabilities in a pass over the text with all changes. */
export function probable(produced, original) {
  const known = logSoftmax(produced);
  const log = (t, id) => (id < produced.size ? known(t, id) : -Infinity);
  return (change) => {
    const { targetStart: start, targetEnd: end } = change;
    const written = sum(between(start, Math.max(end, start + 1)).map((t) => log(t, produced.ids[t])));
    const kept = log(start, original[change.sourceStart]);
    const [fix, keep] = [written, kept].map((sure) => Math.min(1, Math.exp(sure)));
    return { ...change, fix, keep };
  };
}

export const made = (changes, minimum) => changes.filter((change) => confidence(change) >= minimum);

/**
 * The changes of `source` after both readings: `first` are those of `source`, `second` those of the text with
 * the sure ones of `first` made.
 */
export function afterSecondReading(source, first, second, minimum) {
  const [sure, again] = [made(first, minimum), made(second, minimum)];
  const once = applyChanges(source, sure);
  const combined = findChanges(source, applyChanges(once, again)).map((change) => {
    const before = sure.find((each) => isSameChange(each, change));
    if (!before) return weighed(change, sure, inOrder(again));
    return { ...before, targetStart: change.targetStart, targetEnd: change.targetEnd };
  });
  const isFree = (change) => !combined.some((each) => meet(change, each));
  const unsure = first.filter((change) => confidence(change) < minimum && isFree(change));
  return inOrder([...combined, ...unsure]);
}

/** A change made in both readings: their lowest confidence, and the second one's probabilities. */
function weighed(change, first, second) {
  const mine = first.filter((each) => meet(change, each));
  const { targetStart, targetEnd } = change;
  const others = second.filter((each) => each.targetStart <= targetEnd && targetStart <= each.targetEnd);
  // Of two equal syllables the combined change may name the other one. Then it touches no part, so all parts
  // count.
  const parts = mine.length + others.length ? [...mine, ...others] : [...first, ...second];
  const least = leastSure(parts, confidence);
  const last = leastSure(others.length ? others : parts, confidence);
  const { fix, keep, insteadOf } = last;
  return { ...change, fix, keep, insteadOf, knownConfidence: confidence(least) };
}

const leastSure = (all, measure) =>
  all.reduce((least, each) => (measure(each) < measure(least) ? each : least));

// --- Words that occur twice in a text are corrected twice, or not at all, as model/correction/proposing.py.

const BEGINNING = ""; // stands for the word before the first one of a sentence
const SAID = /[\p{L}\p{N}]+/gu; // a word without the marks around it

/** A change whose words stand in the text more than once gets the lowest confidence of these places. */
export function agreeing(sentences) {
  if (!sentences.some(({ proposed }) => proposed.length)) return sentences;
  const read = sentences.map(({ start, source }) => {
    const word = ([from, to]) => ({ said: source.slice(from, to), start: start + from, end: start + to });
    return spansOf(SAID, source).map(word);
  });
  const lines = read.map((words) => [BEGINNING, ...words.map(({ said }) => said)]);
  const placed = sentences.map(({ start, proposed }, i) =>
    proposed.map((change) => [change, change.isOffer ? null : placeOf(read[i], moved(change, start, 0))]),
  );
  const least = new Map();
  for (const [key, found] of grouped(placed.flat(), ([, place]) => place?.key)) {
    const count = key === undefined ? 0 : timesSaid(found[0][1].said, lines);
    const sure = found.map(([change]) => confidence(change));
    if (count > 1) least.set(key, sure.length === count ? Math.min(...sure) : 0);
  }
  if (!least.size) return sentences;
  const agreed = ([change, place]) =>
    place && least.has(place.key) ? { ...change, knownConfidence: least.get(place.key) } : change;
  return sentences.map((sentence, i) => ({ ...sentence, proposed: placed[i].map(agreed) }));
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
  const stands = (line) => (place) => said.every((word, i) => line[place + i] === word);
  const places = (line) => between(0, line.length - said.length + 1);
  return sum(lines.map((line) => places(line).filter(stands(line)).length));
}
