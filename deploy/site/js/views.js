// The views beside heatmap, lines and steps. Each is a function that gives {reading, controls, parts, rows, notes} of the shown sentence; a row has
// figures that stand side by side: {name, heading, words, label, data, act}.
import { received, thisChange } from "./looking_views.js";
import { masks, numbers, positions } from "./calculation_views.js";
import { make } from "./elements.js";
import { sources, without } from "./experiment_views.js";

const VIEWS_BESIDE = [
  ["edits", "view_edits", thisChange],
  ["received", "view_received", received],
  ["numbers", "view_numbers", numbers],
  ["masks", "masks_page", masks],
  ["positions", "positions_page", positions],
  ["without", "view_without", without],
  ["sources", "view_sources", sources],
]; // name, key of its label, function

/** What explore.js takes as `more`. `found`: of worker.js; `templates`: of more_figures.py. */
export function moreViews(site, found, templates) {
  const { changes } = found.sentences[found.place];
  const chosen = changes.find(({ number }) => number === site.state.chosen);
  const shared = { site, say: site.say, sizes: site.sizes, trace: found.trace, templates, changes, chosen };
  return VIEWS_BESIDE.map(([name, title, view]) => ({
    name,
    label: site.say(title),
    draw: (place, explorer) => lay(place, view({ ...shared, explorer })),
  }));
}

/** Puts a view into its place. Figures keep their places, so that they change without being made anew. */
function lay(place, { reading, controls = [], parts = [], rows = [], notes = [] }) {
  const focused = [...place.querySelectorAll("select, button")].indexOf(document.activeElement);
  const kept = new Map([...place.querySelectorAll("[data-figure]")].map((each) => [each.dataset.figure, each]));
  const section = ({ name, heading, words }) => {
    const box = kept.get(name) ?? make("div", "");
    box.dataset.figure = name;
    return make("section", "", ...[heading && make("h3", "", heading), words && make("p", "note", words)].filter(Boolean), box);
  };
  const drawn = rows.map((figures) => {
    const row = make("div", "figures", ...figures.map(section));
    row.style.setProperty("--count", figures.length);
    row.style.setProperty("--least", figures.length > 2 ? "13rem" : "23rem");
    return row;
  });
  const told = Object.assign(make("p", "reading", reading), { ariaLive: "polite" });
  place.replaceChildren(told, make("div", "choices", ...controls), ...parts, ...drawn, ...notes.map((note) => make("p", "note", note)));
  if (focused >= 0) place.querySelectorAll("select, button")[focused]?.focus({ preventScroll: true });
  for (const { name, data, label, act } of rows.flat()) {
    const { spec, ...rest } = data;
    window.components.plot({
      data: { ...rest, spec: JSON.stringify(spec), label, file: name, answers: Boolean(act) },
      parentElement: place.querySelector(`[data-figure="${name}"]`),
      setTriggerValue: (_, point) => act?.(point),
    });
  }
}
