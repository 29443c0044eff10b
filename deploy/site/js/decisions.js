// A person's decisions about proposed changes; port of ui/sentence/decisions.py.
// Each is a stretch [start, end] of the normalised text, which moves with edits of the text before it, or the
// number of a proposal, from 0, as earlier links have it.
import { normalise } from "./text.js";

const isSame = (one, other) => one[0] === other[0] && one[1] === other[1];

const meets = (one, other) => isSame(one, other) || (one[0] < other[1] && other[0] < one[1]);

const holds = (isNear) => (change, places) =>
  places.some((place) => (Array.isArray(place) ? isNear(place, change.span) : place === change.number));

/** Whether a proposal with its `span` and `number` was accepted: at exactly this place. */
export const isAccepted = holds(isSame);

/** Whether it was rejected. A word that was left as typed stays so if something else is proposed for it. */
export const isRejected = holds(meets);

/** The decisions after one proposal was accepted or rejected. */
export function decide({ accepted, rejected }, change, what) {
  const others = (isNear, places) => places.filter((place) => !isNear(change, [place]));
  const left = { accepted: others(isAccepted, accepted), rejected: others(isRejected, rejected) };
  if (what === "accept") return { ...left, accepted: [...left.accepted, change.span] };
  return { ...left, rejected: [...left.rejected, change.span] };
}

/** The places that hold where the text `before` has become `after`: those outside of the part typed anew. */
export function movedAlong(places, before, after) {
  const [old, now] = [before, after].map((text) => Array.from(normalise(text)));
  const shorter = Math.min(old.length, now.length);
  let [start, tail] = [0, 0];
  while (start < shorter && old[start] === now[start]) start += 1;
  while (tail < shorter - start && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const drift = now.length - old.length;
  const spans = places.filter(Array.isArray);
  return spans.flatMap(([first, last]) => {
    if (last <= start) return [[first, last]];
    return first >= old.length - tail ? [[first + drift, last + drift]] : [];
  });
}

/** Places from the address, such as "3-5,9-9" or "0", and back. */
export const readPlaces = (text) =>
  (text ? text.split(",") : [])
    .filter((part) => /^\d{1,5}(-\d{1,5})?$/.test(part))
    .map((part) => (part.includes("-") ? part.split("-").map(Number) : Number(part)));

export const writtenPlaces = (places) => places.map((place) => [place].flat().join("-")).join(",");
