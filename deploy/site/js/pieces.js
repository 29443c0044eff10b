// The pieces of the corrected text that correction.js draws, as ui/components/correction.py.
import { confidence } from "./changes.js";
import { changeLabel } from "./figures.js";
import { isSpace, restored } from "./characters.js";
import { probability } from "./wording.js";

const LEAST_OFFERED = 0.3; // a proposal that the network believes in less than this is not shown

/** `found`: of the worker. `chosen`: the number of the change in focus. `say(key, values)`; `labels`: of changes. */
export function piecesOf(found, chosen, say, labels) {
  const { source, substitutes } = found;
  const write = (text) => restored(text, substitutes);
  const proposals = proposalsOf(found);
  const starts = new Map(found.sentences.length > 1 ? found.sentences.map(({ start }, place) => [start, place]) : []);
  const pieces = [];
  let done = 0;
  const plain = (end) => {
    for (const [start, place] of starts)
      if (done <= start && start < end) {
        pieces.push({ text: write(source.slice(done, start)) }, { sentence: place });
        done = start;
      }
    pieces.push({ text: write(source.slice(done, end)) });
    done = end;
  };
  for (const { start, end, inside } of wordsOf(source, proposals)) {
    plain(start);
    if (starts.has(start)) pieces.push({ sentence: starts.get(start) });
    pieces.push(word(source, start, end, inside, write, say));
    done = end;
  }
  plain(source.length);
  const about = proposals.map((change) => [change.number, { about: aboutOf(change, write, say, labels), made: change.made, norm: null }]);
  const words = wordsSaid(proposals, say);
  return { pieces, text: write(found.text), proposals: Object.fromEntries(about), chosen, opened: found.place, words };
}

/** What was made, and what the network believes in a little; offsets in the whole source. */
function proposalsOf({ sentences }) {
  return sentences.flatMap(({ start, proposed, changes }) => {
    const made = new Set(changes.map(({ number }) => number));
    const all = proposed.map((change) => ({
      ...change,
      made: made.has(change.number),
      start: start + change.sourceStart,
      end: start + change.sourceEnd,
    }));
    return all.filter((change) => change.made || change.isOffer || confidence(change) >= LEAST_OFFERED);
  });
}

/** The words that proposals touch; words that share one are taken together. */
function wordsOf(source, proposals) {
  const found = [];
  for (const proposal of proposals) {
    let { start, end } = proposal;
    while (start > 0 && !isSpace(source[start - 1])) start -= 1;
    while (end < source.length && !isSpace(source[end])) end += 1;
    const before = found.at(-1);
    if (before && start < before.end) Object.assign(before, { end: Math.max(before.end, end), inside: [...before.inside, proposal] });
    else found.push({ start, end, inside: [proposal] });
  }
  return found;
}

function word(source, start, end, inside, write, say) {
  const made = inside.filter((change) => change.made);
  const written = (changes, old) => side(source, start, end, changes, old).map(([text, differs]) => [write(text), differs]);
  const offered = inside.filter((change) => !change.made).map((change) => {
    const text = written([...made, change], false).map(([part]) => part).join("");
    const shown = text.replaceAll(" ", "␣").replaceAll("\n", "↵");
    const share = change.isOffer ? say("correction_layout") : probability(confidence(change));
    return { number: change.number, text, shown, share, accept: change.isOffer ? "accept_layout" : "accept" };
  });
  return { typed: written(made, true), now: written(made, false), made: made.map(({ number }) => number), offered };
}

/** [text, whether it differs] for the parts of the word, before or after these changes. A removed space leaves an empty part that differs. */
function side(source, start, end, changes, old) {
  const parts = [];
  let done = start;
  for (const change of [...changes].sort((one, other) => one.start - other.start)) {
    const text = old ? change.wrong : change.right;
    parts.push([source.slice(done, change.start), false]);
    if (text || (change.wrong && [...change.wrong].every(isSpace))) parts.push([text, true]);
    done = change.end;
  }
  return [...parts, [source.slice(done, end), false]].filter(([text, differs]) => text || differs);
}

function aboutOf(change, write, say, labels) {
  const what = changeLabel(labels, { wrong: write(change.wrong), right: write(change.right) });
  if (change.isOffer) return say("correction_about_layout", { what });
  const about = say("site_about", { what, confidence: probability(confidence(change)) });
  return typeof change.insteadOf === "string" ? say("correction_instead_of", { about, text: write(change.insteadOf) || "∅" }) : about;
}

function wordsSaid(proposals, say) {
  const [made, left] = [true, false].map((made) => proposals.some((change) => change.made === made));
  const hint = left ? (made ? "correction_hint_both" : "correction_hint_offered") : "correction_hint";
  return {
    label: say("corrected_label"),
    hint: proposals.length ? say(hint) : say("site_nothing"),
    copy: say("copy"),
    copied: say("copied"),
    copy_long: say("copy_corrected"),
    reject: say("correction_reject"),
    accept: say("correction_accept", { text: "{text}", share: "{share}" }),
    accept_layout: say("correction_accept_layout", { text: "{text}" }),
    open: say("correction_open", { number: "{number}" }),
  };
}
