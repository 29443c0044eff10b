// Parts of a sentence and the anchors in them, which a correction has to copy, as model/text/anchors.py.
// A part is {start, text, anchors, verbatim}; spans count from the start of its text.
import { isHangul, isSpace, stripEnd, stripStart } from "./characters.js";
import { opcodes } from "./levenshtein.js";
import { isProtected, outcries } from "./refusals.js";
import { clipped } from "./sentences.js";

export function partOf(text, verbatim, rules) {
  return { start: 0, text, anchors: anchorsOf(text, verbatim, rules), verbatim };
}

export function hasProse({ text, verbatim }) {
  return [...text].some((character, i) => isHangul(character) && !verbatim.some(([a, b]) => a <= i && i < b));
}

function anchorsOf(text, verbatim, rules) {
  const copied = new Set();
  for (const [start, end] of [...verbatim, ...outcries(text, rules)]) for (let i = start; i < end; i += 1) copied.add(i);
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

/** The anchors that `target` does not copy at their place. If none is lost, but `target` has more protected characters: all. */
export function lostAnchors({ text, anchors, verbatim }, target, rules) {
  if (!anchors.length) return [];
  const places = new Map();
  for (const { tag, start, end, first } of opcodes(text, target))
    if (tag === "equal") for (let i = 0; i < end - start; i += 1) places.set(start + i, first + i);
  const inside = ([a, b]) => verbatim.filter(([start, end]) => a <= start && end <= b);
  const lost = anchors.filter(
    (anchor) => !isCopied(anchor, places) || !inside(anchor).every((span) => hasSameSpaces(span, text, target, places))
  );
  const count = (said) => [...said].filter((character) => isProtected(character, rules)).length;
  return !lost.length && count(target) > count(text) ? anchors : lost;
}

function isCopied([start, end], places) {
  for (let i = start; i < end; i += 1) if (places.get(i) !== places.get(start) + i - start) return false;
  return places.has(start);
}

/** Whether a copied span has white space before it, and after it, in the target just where it has in the source. */
function hasSameSpaces([start, end], source, target, places) {
  const [from, to] = [places.get(start), places.get(end - 1) + 1];
  const gap = (text, at) => isSpace(text[at] ?? "");
  return gap(source, start - 1) === gap(target, from - 1) && gap(source, end) === gap(target, to);
}

/** What stands before, between and after these anchors. Only stretches that hold prose. */
export function partsBeside(part, anchors, { marks }) {
  const { text } = part;
  const starts = [0, ...anchors.map(([, end]) => end)].map((start) => start + particle(text, start, marks));
  const ends = [...anchors.map(([start]) => start), text.length];
  return starts.flatMap((start, i) => (start < ends[i] ? [cut(part, start, ends[i])] : [])).filter(hasProse);
}

/** How many characters to skip: 1 for a lone particle behind a closing bracket, which is too little to read; else 0. */
function particle(text, start, marks) {
  const isLone = /^[가-힣](?![가-힣ㄱ-ㅣ])/.test(text.slice(start));
  return Number(start > 0 && marks.closing.includes(text[start - 1]) && isLone);
}

function cut({ start: before, text, anchors, verbatim }, start, end) {
  const piece = text.slice(start, end);
  [start, end] = [start + piece.length - stripStart(piece).length, end - piece.length + stripEnd(piece).length];
  return {
    start: before + start,
    text: text.slice(start, end),
    anchors: clipped(anchors, start, end),
    verbatim: clipped(verbatim, start, end),
  };
}
