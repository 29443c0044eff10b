// From chosen candidates to proposed changes, and a second reading, as model/correction/proposing.py and second_reading.py.
import { applyChanges, confidence, findChanges, inOrder, selectChanges } from "./changes.js";
import { logSoftmax } from "./drafting.js";

/** The changes that the chosen candidates make, each with its confidence. */
export function changesOf(source, chosen, accepts) {
  const kept = withoutSpoilers(chosen);
  const parts = kept.map(({ stretch, text }) => ({ sourceStart: stretch.start, sourceEnd: stretch.end, right: text }));
  const changes = findChanges(source, applyChanges(source, parts));
  return selectChanges(changes, accepts).map((change) => rated(change, kept));
}

/** Drops a choice for a stretch that the network left as it was, if it touches a surer choice for one that the network changed. */
function withoutSpoilers(chosen) {
  const changed = chosen.filter(({ stretch }) => stretch.isChanged);
  return chosen.filter(
    (each) =>
      each.stretch.isChanged ||
      !changed.some(({ confidence: surer, stretch }) => surer > each.confidence && touches(each, stretch.start, stretch.end))
  );
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

/** Whether fewer letters are written than were typed, or several words change both their letters and their spaces. */
function loses({ wrong, right }) {
  const [typed, written] = [wrong, right].map(lettersOf);
  const isDivided = wrong.trim().includes(" ") && wordsOf(wrong) !== wordsOf(right);
  return [...written].length < [...typed].length || (isDivided && typed !== written);
}

/** Whether the network still finds the change of `source` possible with all other proposals made. A change that removes letters needs more. */
export function isSupported(change, source, { LEAST_PROBABILITY, PROBABILITY_OF_LOSS, PROBABILITY_OF_LOST_BEGINNING }) {
  if (losesBeginning(change, source)) return change.fix >= PROBABILITY_OF_LOST_BEGINNING;
  return change.fix >= (loses(change) ? PROBABILITY_OF_LOSS : LEAST_PROBABILITY);
}

function losesBeginning({ sourceStart, sourceEnd, wrong, right }, source) {
  const isWord = (text) => text !== "" && lettersOf(text) === text;
  let [start, end] = [sourceStart, sourceEnd];
  while (start && source[start - 1] === source[end - 1]) [start, end] = [start - 1, end - 1]; // the first of two equal ones
  return !right && isWord(wrong) && !isWord(source[start - 1] ?? "") && isWord(source[sourceEnd] ?? "");
}

/** A function that gives a change its probabilities in a pass over the text with all changes. */
export function probable(produced, original) {
  const known = logSoftmax(produced);
  const log = (t, id) => (id < produced.size ? known(t, id) : -Infinity);
  return (change) => {
    let written = 0;
    for (let t = change.targetStart; t < Math.max(change.targetEnd, change.targetStart + 1); t += 1) written += log(t, produced.ids[t]);
    const keep = Math.min(1, Math.exp(log(change.targetStart, original[change.sourceStart])));
    return { ...change, fix: Math.min(1, Math.exp(written)), keep };
  };
}

export const made = (changes, minimum) => changes.filter((change) => confidence(change) >= minimum);

/** The changes of `source` after both readings: `first` are those of `source`, `second` those of the text with the sure ones of `first` made. */
export function afterSecondReading(source, first, second, minimum) {
  const [sure, again] = [made(first, minimum), made(second, minimum)];
  const once = applyChanges(source, sure);
  const same = (one, other) => one.sourceStart === other.sourceStart && one.sourceEnd === other.sourceEnd && one.right === other.right;
  const combined = findChanges(source, applyChanges(once, again)).map((change) => {
    const before = sure.find((each) => same(each, change));
    if (!before) return weighed(change, sure, inOrder(again));
    return { ...before, targetStart: change.targetStart, targetEnd: change.targetEnd };
  });
  const unsure = first.filter((change) => confidence(change) < minimum && !combined.some((each) => meet(change, each)));
  return inOrder([...combined, ...unsure]);
}

/** A change made of changes of both readings. It has the lowest confidence of these, and the probabilities of the second reading. */
function weighed(change, first, second) {
  const mine = first.filter((each) => meet(change, each));
  const others = second.filter((each) => each.targetStart <= change.targetEnd && change.targetStart <= each.targetEnd);
  // Of two equal syllables the combined change may name the other one. Then it touches no part, so all parts count.
  const parts = mine.length + others.length ? [...mine, ...others] : [...first, ...second];
  const least = leastSure(parts, confidence);
  const last = leastSure(others.length ? others : parts, confidence);
  return { ...change, fix: last.fix, keep: last.keep, knownConfidence: confidence(least), insteadOf: last.insteadOf };
}

const meet = (one, other) => one.sourceStart <= other.sourceEnd && other.sourceStart <= one.sourceEnd;
const leastSure = (all, measure) => all.reduce((least, each) => (measure(each) < measure(least) ? each : least));
