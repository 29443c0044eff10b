// The network asked again with something changed: heads off, and what is left out; as ui/views/without.py and ui/views/sources.py.
import { filledPanels } from "./bars.js";
import { between, largestFirst, rankCorrelation } from "./counting.js";
import { filledMosaic, filledScatter } from "./head_figures.js";
import { visibleToken } from "./labels.js";
import { make, picked, pressed } from "./elements.js";
import { inWords, probability } from "./wording.js";

const STRONGEST = 5; // heads that are off at first

/** What each head does for a change, and what becomes of it without some of them. */
export function without({ site, say, changes, chosen, templates, explorer }) {
  const change = chosen ?? changes[0];
  if (!change) return { reading: say("without_none") };
  const found = site.inquire({ what: "effects", number: change.number });
  if (!found) return { reading: say(found === null ? "site_no_question" : "site_asking") };
  const { heads, attention } = found;
  const effect = found.effect.map(Math.fround);
  const order = largestFirst(effect.map(Math.abs));
  const off = site.state.off ?? order.slice(0, STRONGEST).map((place) => heads[place]);
  const both = site.inquire({ what: "verdict", number: change.number, off });
  const isOff = (head) => off.some((each) => String(each) === String(head));
  const put = (heads) => site.change({ off: heads });
  const press = ({ custom }) => custom && put(isOff(custom) ? off.filter((each) => String(each) !== String(custom)) : [...off, custom]);
  const label = (name) => explorer.data.kinds.find(({ kind }) => kind === name).label;
  const named = ([kind, layer, head]) => `${label(kind)} ${layer + 1}·${head + 1}`;
  const looker = largestFirst(attention)[0];
  const observed = {
    change: inWords(say, change),
    looker: named(heads[looker]),
    rank: order.indexOf(looker) + 1,
    count: heads.length,
    strongest: named(heads[order[0]]),
    correlation: rankCorrelation(attention, effect.map(Math.abs)).toFixed(2).replace("-", "−").replace("NaN", "–"),
  };
  return {
    reading: both ? told(say, change, off, both) : say("site_asking"),
    controls: [
      pressed(say("without_all_on"), () => put([]), !off.length),
      pressed(say("without_strongest", { count: STRONGEST }), () => put(null), !site.state.off),
    ],
    parts: [verdictOf(say, both, off, named)],
    rows: [[
      { name: "without_mosaic", label: say("without_mosaic_label"), act: press, data: filledMosaic(templates.mosaic, { effect, chosen: off }) },
      { name: "without_scatter", label: say("without_scatter_label"), data: filledScatter(templates.scatter, { ...found, effect, chosen: off }) },
    ]],
    notes: [say("log_odds_note"), say("without_reading", observed), say("without_note"), say("nat_note"), say("without_intervened"), say("site_off_zero")],
  };
}

function told(say, change, off, [before, after]) {
  const shares = { change: inWords(say, change), before: probability(before.fix, 3), after: probability(after.fix, 3) };
  return say(off.length ? `without_reading_${after.outcome}` : "without_reading_on", shares);
}

/** Before and after, large: what the network writes of its own accord, how probable the fix is, and whether it is made. */
function verdictOf(say, both, off, named) {
  const names = [say("without_all_heads"), namesOf(say, off, named)];
  const sides = names.map((name, side) => {
    const { text, fix, outcome } = both?.[side] ?? {};
    const written = Object.assign(make("p", "written", both ? (text ?? say("without_no_end")) : "…"), { lang: "ko" });
    const share = both ? `${say("without_probability", { probability: probability(fix, 3) })} · ${say(`without_${outcome}`)}` : "…";
    return make("div", "", make("p", "", name), written, make("p", "", share));
  });
  return make("div", "verdict", ...sides);
}

function namesOf(say, off, named) {
  if (!off.length) return say("without_all_heads");
  return off.length < STRONGEST ? say("without_heads", { heads: off.map(named).join(", ") }) : say("without_all", { count: off.length });
}

/** Two panels: what leaving out each token takes from a written one, and below it where all heads looked on average. */
export function sources({ site, say, changes, chosen, trace, templates, sizes }) {
  const change = chosen ?? changes[0];
  const asked = site.state.row ?? (change ? null : 0);
  const found = site.inquire({ what: "sources", ...(asked === null ? { number: change.number } : { row: asked }) });
  const steps = trace.targetTokens.map((token, row) => `${row + 1}: ${visibleToken(token, sizes)}`);
  const row = asked ?? found?.row ?? change.targetStart;
  const choice = picked(say("sources_step_label"), steps, row, (row) => site.change({ row }));
  if (!found) return { reading: say(found === null ? "site_no_question" : "site_asking"), controls: [choice] };
  const { lost, looked, length } = found;
  const tokens = [...trace.sourceTokens, ...trace.decoderInputTokens.slice(0, found.row + 1)];
  const outlined = asked === null ? between(change.sourceStart, change.sourceEnd) : [];
  const [key, other] = [lost.map(Math.abs), looked].map((values) => largestFirst(values.slice(0, length - 1))[0] ?? 0);
  const seen = (place) => visibleToken(trace.sourceTokens[place], sizes);
  return {
    reading: say("site_sources", { token: visibleToken(trace.targetTokens[found.row], sizes), key: seen(key), position: key + 1, looked: seen(other), looked_position: other + 1 }),
    controls: [choice],
    rows: [[{ name: "sources", label: say("sources_label"), data: filledPanels(templates.panels, { values: [lost, looked], tokens, outlined, split: length }, sizes) }]],
    notes: [say("site_sources_note")],
  };
}
