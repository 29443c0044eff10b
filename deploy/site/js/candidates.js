// What else the network could have written, as model/correction/candidates.py. A stretch is
// {start, end, kept, candidates: Map of text -> log probability, written, isChanged}.
import { applyChanges, findChanges, growth, moved } from "./changes.js";
import { logSoftmax } from "./drafting.js";
import { END_ID, OUTSIDE_ID, PAD_ID, START_ID } from "./tokenizer.js";

export function findStretches(source, target, produced, tokenizer, accepts, { numbers }) {
  const log = logSoftmax(produced);
  const written = findChanges(source, target);
  const others = othersOf(produced, log, tokenizer, numbers);
  const edits = [...written.map(({ targetStart, targetEnd }) => [targetStart, targetEnd]), ...others.map(({ first, last }) => [first, last])];
  const original = tokenizer.encodeTarget(source);
  const stretches = [];
  for (const [first, last] of together(edits)) {
    const grown = (changes) => changes.reduce((sum, change) => sum + growth(change), 0);
    const stop = Math.max(last, first + 1);
    const drift = grown(written.filter((c) => c.targetEnd <= first && first > c.targetStart));
    const inside = written.filter((c) => c.targetEnd <= last && first <= c.targetStart && c.targetStart < stop);
    const [start, end] = [first - drift, last - drift - grown(inside)];
    const kept = source.slice(start, end);
    const accepted = (text) => applyChanges(kept, findChanges(kept, text).filter((change) => accepts(moved(change, start, start))));

    let certain = 0;
    for (let t = first; t < stop; t += 1) certain += log(t, produced.ids[t]);
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
    const [own] = candidates.keys();
    if (candidates.size > 1) stretches.push({ start, end, kept, candidates, written: own, isChanged: own !== kept });
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
      if (own > least && token !== ids[t] && !never.includes(token)) rated.push([own - log(t, ids[t]), t, token]);
    }
  rated.sort((one, other) => other[0] - one[0] || other[1] - one[1] || other[2] - one[2]);
  return rated.slice(0, MOST).flatMap(([ratio, t, token]) =>
    instead(ids, t, token, tokenizer).map(([count, text]) => ({ first: t, last: t + count, text, ratio }))
  );
}

/** The ways in which `token` can stand at place `t`: how many characters it replaces, and the new text. */
function instead(ids, t, token, tokenizer) {
  if (token === END_ID) return t === ids.length - 2 ? [[1, ""]] : []; // elsewhere it would cut the sentence off
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
