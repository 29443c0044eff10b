// Further site views: this change, received attention, head ablation, occlusion.
import { button, filled, menu, node, replaceControls } from "../../../viz/browser/dom.js";
import { probabilityText } from "../../../viz/browser/type.js";
import { masks, numbers, positions } from "./calculation.js";
import { filledBars, filledMosaic, filledPanels, filledScatter } from "./charts.js";
import { askedRow, attentionOfChange, focusOf, leadingHeads } from "./experiments.js";
import { axesOf, changedRows, numbered, visibleToken } from "./figures.js";
import { between, largestFirst, rankCorrelation, sum, upTo } from "./numbers.js";

// --- How numbers and places are said, as ui/wording.py.

export const LONGEST_SIDE = 12; // characters of the wrong side, and of the right one

export function percent(say, share) {
  const plain = (value) => `${(value * 100).toFixed(0)}%`;
  if (share > 0 && share <= 0.005) return say("percent_below", { share: plain(0.01) });
  if (share >= 0.995 && share < 1) return say("percent_above", { share: plain(0.99) });
  return plain(share);
}

/** A change as plain text, blanks visible. */
export function inWords(say, { wrong, right }) {
  const happened = wrong && right ? "replaced" : right ? "inserted" : "deleted";
  const [one, other] = [wrong, right].map((side) => visibleToken(side, LONGEST_SIDE));
  return say(`edits_${happened}`, { wrong: one, right: other });
}

/** A figure whose {words} are filled in. */
export function withWords(figure, words) {
  const escaped = Object.entries(words).map(([name, word]) => [name, JSON.stringify(word).slice(1, -1)]);
  return JSON.parse(filled(JSON.stringify(figure), Object.fromEntries(escaped)));
}

// --- Attention to a change, and received attention; as ui/views/edits.py and ui/views/received.py.

const AROUND = 8; // tokens that bars show on each side of a change

function bars(template, { say }, words, table) {
  const usual = { key: say("hover_key"), value: say("hover_weight") };
  return filledBars(withWords(template, { ...usual, ...words }), table);
}

/** The heads that looked at one change more than they usually look at such a place. */
export function thisChange(shared) {
  const { say, changes, change, trace, explorer, templates } = shared;
  if (!change) return { reading: say("edits_none") };
  const cross = explorer.data.kinds.find(({ kind }) => kind === "cross_attention");
  const heads = leadingHeads(cross, change, changes);
  const tokens = trace.sourceTokens;
  const { columns } = focusOf("cross_attention", change, tokens.length);
  const start = Math.max(columns[0] - AROUND, 0);
  const end = Math.min(columns.at(-1) + AROUND + 1, tokens.length);
  const placeOf = ({ layer, head }) => explorer.place(cross, layer, head);
  const shares = ({ share, usual }) => ({ share: percent(say, share), usual: percent(say, usual) });
  const told = (head) => ({ place: placeOf(head), ...shares(head) });
  const words = { tokens: say("key_cross_attention"), outlined: say("edits_outlined") };
  const table = {
    weights: heads.map((head) => attentionOfChange(cross, head, change).slice(start, end)),
    tokens: tokens.slice(start, end),
    names: heads.map((head) => say("edits_head", told(head))),
    outlined: columns.map((column) => column - start),
    first: start + 1,
  };
  const seen = visibleToken(columns.map((column) => tokens[column]).join(""), LONGEST_SIDE);
  const more = heads[0].share > heads[0].usual ? "edits_reading" : "edits_reading_less";
  const written = trace.targetTokens;
  const token = visibleToken(written[askedRow("cross_attention", change, written.length)]);
  const open = ({ layer, head }) => explorer.choose({ kind: cross, view: "heatmap", layer, head });
  const label = inWords(say, change);
  return {
    reading: say(more, { change: label, token, columns: seen, ...told(heads[0]) }),
    controls: heads.map((head) => button(say("edits_open", { place: placeOf(head) }), () => open(head))),
    rows: [[{ name: "edits", label, data: bars(templates.edits, shared, words, table) }]],
    notes: [say("edits_caption"), ...(end - start < tokens.length ? [say("edits_window")] : [])],
  };
}

/** How much attention each token receives: the mean over the rows that may look at it. */
export function received(shared) {
  const { say, changes, chosen, trace, explorer } = shared;
  const { kind, shape } = explorer.kind;
  const [rows, columns] = shape.slice(2);
  const isMasked = kind === "decoder_attention";
  const weights = explorer.weights();
  const column = (key) => upTo(rows).map((row) => weights[row * columns + key]);
  const allowed = (key) => (isMasked ? rows - key : rows);
  const found = upTo(columns).map((key) => sum(column(key)) / Math.max(allowed(key), 1));
  const most = largestFirst(found)[0];
  const even = sum(Array.from(weights)) / sum(upTo(columns).map(allowed));
  const keys = axesOf(kind, trace)[1];
  const place = explorer.place(explorer.kind);
  const table = {
    weights: [found],
    tokens: keys,
    names: [place],
    outlined: changedColumns(kind, chosen ? [chosen] : changes, keys.length),
    first: 1,
  };
  const words = { value: say("received_mean"), outlined: say("received_changed") };
  words.tokens = say(`key_${kind}`);
  const weight = { weight: found[most].toFixed(3), times: (found[most] / even).toFixed(1) };
  return {
    reading: say("received_reading", { ...weight, key: visibleToken(keys[most]), position: most + 1, place }),
    rows: [[{ name: "received", label: place, data: bars(shared.templates.received, shared, words, table) }]],
    notes: [say("received_note"), ...(isMasked ? [say("received_masked")] : [])],
  };
}

/** The keys that changes concern: the source's, or those of the decoder's input. */
function changedColumns(kind, changes, count) {
  if (kind !== "decoder_attention")
    return [...changedRows(changes, "encoder_attention", count)].sort((one, other) => one - other);
  return [...changedRows(changes, kind, count)].map((row) => row + 1).filter((column) => column < count);
}

// --- Interventions: ablated heads and occluded tokens; as ui/views/heads_off.py and ui/views/sources.py.

const STRONGEST = 5; // heads that are off at first

/** The effect of each head on a change, and the change without some of them. */
export function without({ site, say, change, templates, explorer }) {
  if (!change) return { reading: say("without_none") };
  const found = site.inquire({ what: "effects", number: change.number });
  if (!found) return { reading: say(found === null ? "site_no_question" : "site_asking") };
  const { heads, attention } = found;
  const effect = found.effect.map(Math.fround);
  const order = largestFirst(effect.map(Math.abs));
  const helpful = largestFirst(effect.map((nats) => -nats)).filter((place) => effect[place] < 0);
  const off = site.state.off ?? helpful.slice(0, STRONGEST).map((place) => heads[place]);
  const both = site.inquire({ what: "verdict", number: change.number, off });
  const put = (heads) => site.change({ off: heads });
  const press = ({ custom }) => {
    const others = off.filter((each) => String(each) !== String(custom));
    if (custom) put(others.length < off.length ? others : [...off, custom]);
  };
  const label = (name) => explorer.data.kinds.find(({ kind }) => kind === name).label;
  const named = ([kind, layer, head]) => `${label(kind)} ${layer + 1}·${head + 1}`;
  const looker = largestFirst(attention)[0];
  const correlation = rankCorrelation(attention, effect.map(Math.abs)).toFixed(2);
  const observed = {
    change: inWords(say, change),
    looker: named(heads[looker]),
    rank: order.indexOf(looker) + 1,
    count: heads.length,
    strongest: named(heads[order[0]]),
    correlation: correlation.replace("-", "−").replace("NaN", "–"),
  };
  const allOn = button(say("without_all_on"), () => put([]));
  allOn.disabled = !off.length;
  const strongest = button(say("without_strongest", { count: STRONGEST }), () => put(null));
  strongest.disabled = !site.state.off;
  const drawn = { ...found, effect, chosen: off };
  const picture = (name, fill, act) => {
    const [label, data] = [say(`without_${name}_label`), fill(templates[name], drawn)];
    return { name: `without_${name}`, label, data, act };
  };
  return {
    reading: both ? told(say, change, off, both) : say("site_asking"),
    controls: [allOn, strongest],
    parts: [verdictOf(say, both, off, named)],
    rows: [[picture("mosaic", filledMosaic, press), picture("scatter", filledScatter)]],
    notes: NOTES_WITHOUT.map((name) => say(name, observed)),
  };
}

const NOTES_WITHOUT =
  "log_odds_note without_reading without_note nat_note without_intervened site_off_zero".split(" ");

function told(say, change, off, [before, after]) {
  const shares = {
    change: inWords(say, change),
    before: probabilityText(before.fix),
    after: probabilityText(after.fix),
  };
  return say(off.length ? `without_reading_${after.outcome}` : "without_reading_on", shares);
}

/** Before and after, large: the network's free text, how probable the fix is, and whether it is made. */
function verdictOf(say, both, off, named) {
  const names = [say("without_all_heads"), namesOf(say, off, named)];
  const sides = names.map((name, side) => {
    const { text, fix, outcome } = both?.[side] ?? {};
    const written = node("p", "written", both ? (text ?? say("without_no_end")) : "…");
    written.lang = "ko";
    const made = () => say("without_probability", { probability: probabilityText(fix) });
    const share = both ? `${made()} · ${say(`without_${outcome}`)}` : "…";
    return node("div", "", node("p", "", name), written, node("p", "", share));
  });
  return node("div", "verdict", ...sides);
}

function namesOf(say, off, named) {
  if (!off.length) return say("without_all_heads");
  return off.length < STRONGEST
    ? say("without_heads", { heads: off.map(named).join(", ") })
    : say("without_all", { count: off.length });
}

/** Occlusion of each token for a written one, and below it the mean attention of all heads. */
export function sources({ site, say, change, trace, templates }) {
  const asked = site.state.row ?? (change ? null : 0);
  const about = asked === null ? { number: change.number } : { row: asked };
  const found = site.inquire({ what: "sources", ...about });
  const steps = numbered(trace.targetTokens);
  const row = asked ?? found?.row ?? change.targetStart;
  const choice = menu(say("sources_step_label"), steps, row, (row) => site.change({ row }));
  if (!found)
    return { reading: say(found === null ? "site_no_question" : "site_asking"), controls: [choice] };
  const { lost, looked, length } = found;
  const tokens = [...trace.sourceTokens, ...trace.decoderInputTokens.slice(0, found.row + 1)];
  const outlined = asked === null ? between(change.sourceStart, change.sourceEnd) : [];
  const most = (values) => largestFirst(values.slice(0, length - 1))[0] ?? 0;
  const [key, other] = [most(lost.map(Math.abs)), most(looked)];
  const [seen, looker] = [key, other].map((place) => visibleToken(trace.sourceTokens[place]));
  const places = { key: seen, position: key + 1, looked: looker, looked_position: other + 1 };
  const data = filledPanels(templates.panels, { values: [lost, looked], tokens, outlined, split: length });
  return {
    reading: say("site_sources", { token: visibleToken(trace.targetTokens[found.row]), ...places }),
    controls: [choice],
    rows: [[{ name: "sources", label: say("sources_label"), data }]],
    notes: [say("site_sources_note")],
  };
}

// --- The views beside heatmap, lines and steps. A view gives {reading, controls, parts, rows, notes}; a row
// has figures that stand side by side: {name, heading, words, label (else the heading), data, act}.

const VIEWS_BESIDE = [
  ["edits", "view_edits", thisChange],
  ["received", "view_received", received],
  ["numbers", "view_numbers", numbers],
  ["masks", "masks_page", masks],
  ["positions", "positions_page", positions],
  ["without", "view_without", without],
  ["sources", "view_sources", sources],
]; // name, key of its label, function

/** The `more` of explore.js. `found`: of worker.js; `templates`: of deploy/site/figures.py. */
export function moreViews(site, found, templates) {
  const { changes } = found.sentences[found.place];
  const chosen = changes.find(({ number }) => number === site.state.chosen);
  const change = chosen ?? changes[0];
  const shared = { site, say: site.say, trace: found.trace, templates, changes, chosen, change };
  return VIEWS_BESIDE.map(([name, title, view]) => ({
    name,
    label: site.say(title),
    draw: (place, explorer) => lay(place, view({ ...shared, explorer })),
  }));
}

/** Puts a view into its place. Figures keep their places, so that they change without being made anew. */
function lay(place, { reading, controls = [], parts = [], rows = [], notes = [] }) {
  const section = ({ name, heading, words }) => {
    const box = place.querySelector(`[data-figure="${name}"]`) ?? node("div", "");
    box.dataset.figure = name;
    const above = [heading && node("h3", "", heading), words && node("p", "note", words)].filter(Boolean);
    return node("section", "", ...above, box);
  };
  const drawn = rows.map((figures) => {
    const row = node("div", "figures", ...figures.map(section));
    row.style.setProperty("--count", figures.length);
    row.style.setProperty("--least", figures.length > 2 ? "13rem" : "23rem");
    return row;
  });
  const told = Object.assign(node("p", "reading", reading), { ariaLive: "polite" });
  const below = notes.map((note) => node("p", "note", note));
  replaceControls(place, told, node("div", "choices", ...controls), ...parts, ...drawn, ...below);
  for (const { name, data, heading, label = heading, act } of rows.flat()) {
    const spec = JSON.stringify(data.spec);
    window.components.plot({
      data: { ...data, spec, label, file: name, answers: Boolean(act) },
      parentElement: place.querySelector(`[data-figure="${name}"]`),
      setTriggerValue: (_, point) => act?.(point),
    });
  }
}
