// Cuts a text into sentences, as model/text/sentences.py. A span is [start, end].
import { GAPS, isLetterOrNumber, spansOf, stripEnd, stripStart } from "./characters.js";

/** What of some spans lies between `start` and `end`, counted from `start`. */
export function clipped(spans, start, end) {
  const inside = spans.filter(([a, b]) => a < end && b > start);
  return inside.map(([a, b]) => [Math.max(a, start) - start, Math.min(b, end) - start]);
}

export function splitSentences(text, longest, rules) {
  const again = ([start, end]) => repetitions(text, start, end, rules);
  const whole = [text.length - stripStart(text).length, stripEnd(text).length];
  const sentences = again(whole).flatMap((said) => sentencesOf(text, said, rules)).flatMap(again);
  return sentences.flatMap(([start, end]) => parts(text, start, end, longest));
}

function sentencesOf(text, [first, end], rules) {
  const spans = [];
  let start = first;
  for (const [gap, stop] of spansOf(rules.patterns.boundary, text.slice(0, end))) {
    if (gap < start) continue;
    if (gap > start) spans.push([start, gap]);
    start = stop;
  }
  return start < end ? [...spans, [start, end]] : spans;
}

/** The repetitions of which a part of a text consists; the part itself if it repeats nothing. */
function repetitions(text, start, end, { numbers }) {
  const said = text.slice(start, end);
  const gaps = [...said.matchAll(GAPS)].map(({ index, 0: gap }) => index + gap.length);
  let periods = gaps;
  if (!gaps.length && new Set(said).size > 1)
    periods = Array.from({ length: Math.max(said.length - numbers.LEAST_JOINED, 0) }, (_, i) => i + numbers.LEAST_JOINED);
  const least = gaps.length ? numbers.LEAST_REPETITIONS : numbers.LEAST_REPETITIONS_JOINED;
  for (const period of periods) {
    if (period * (least - 1) >= said.length) break;
    const length = ((said.length - 1) % period) + 1;
    if (!said.startsWith(said.slice(period)) || [...said.slice(length, period)].some(isLetterOrNumber)) continue;
    const spans = [];
    for (let first = start; first < end; first += period) spans.push([first, first + length]);
    return spans;
  }
  return start < end ? [[start, end]] : [];
}

function parts(text, start, end, longest) {
  const found = [];
  const gaps = [...text.slice(start, end).matchAll(GAPS)].map(({ index, 0: gap }) => [start + index, start + index + gap.length]);
  const behind = (place) => gaps.filter(([from]) => from <= place).length; // bisect_right
  while (end - start > longest) {
    const [first, last] = [behind(start), behind(start + longest)];
    if (first === gaps.length) break;
    const even = start + (end - start) / Math.ceil((end - start) / longest);
    const near = first < last ? gaps.slice(first, last) : gaps.slice(first, first + 1);
    const cut = near.reduce((best, gap) => (Math.abs(gap[0] - even) < Math.abs(best[0] - even) ? gap : best));
    found.push([start, cut[0]]);
    start = cut[1];
  }
  return [...found, [start, end]];
}
