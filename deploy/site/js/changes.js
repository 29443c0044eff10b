// Where two versions of a text differ, as model/text/changes.py has it. A change is
// {sourceStart, sourceEnd, targetStart, targetEnd, wrong, right}, and with its probabilities {fix, keep, knownConfidence, insteadOf}.
import { isBlank, isSpace } from "./characters.js";
import { opcodes } from "./levenshtein.js";

export const movesSpaces = ({ wrong, right }) => isBlank(wrong) && isBlank(right);
export const growth = ({ wrong, right }) => right.length - wrong.length;
export const confidence = ({ knownConfidence, fix, keep }) => knownConfidence ?? fix * (1 - keep);

export function moved(change, source, target) {
  const { sourceStart, sourceEnd, targetStart, targetEnd } = change;
  const places = { sourceStart: sourceStart + source, sourceEnd: sourceEnd + source };
  return { ...change, ...places, targetStart: targetStart + target, targetEnd: targetEnd + target };
}

/** The places where two texts differ: first without white space, then what stands between the letters that both share. */
export function findChanges(source, target) {
  const common = commonLetters(source, target);
  const changes = [];
  for (let i = 1; i < common.length; i += 1) {
    const [[first, one], [last, other]] = [common[i - 1], common[i]];
    if (last - first > 1 || other - one > 1) changes.push(...differences(source, target, [first + 1, last], [one + 1, other]));
  }
  return changes;
}

function commonLetters(source, target) {
  const places = (text) => [...Array(text.length).keys()].filter((i) => !isSpace(text[i]));
  const [letters, others] = [places(source), places(target)];
  const common = [[-1, -1]];
  const said = (text, at) => at.map((i) => text[i]);
  for (const { tag, start, end, first } of opcodes(said(source, letters), said(target, others)))
    if (tag === "equal") for (let i = 0; i < end - start; i += 1) common.push([letters[start + i], others[first + i]]);
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
  return found.map(({ start, end, first, last }) => ({
    sourceStart: from + start,
    sourceEnd: from + end,
    targetStart: begin + first,
    targetEnd: begin + last,
    wrong: source.slice(from + start, from + end),
    right: target.slice(begin + first, begin + last),
  }));
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
  const sorted = [...changes].sort((one, other) => one.sourceStart - other.sourceStart || one.sourceEnd - other.sourceEnd);
  return sorted.map((change) => {
    const targetStart = change.sourceStart + drift;
    drift += growth(change);
    return { ...change, targetStart, targetEnd: targetStart + change.right.length };
  });
}
