// Bars over the tokens of a sentence, as viz/bars.py and viz/contribution_panels.py. `template`: that figure for another sentence.
import { upTo } from "./counting.js";
import { tokenLabel } from "./labels.js";
import { cellSize, columnTicks, ticksBelow } from "./token_axis.js";

const axisName = (row) => `yaxis${row ? row + 1 : ""}`;
const ticksOf = (tokens, sizes) => columnTicks(tokens, cellSize(tokens.length, 1, sizes), sizes);

function tokenAxis(axis, tokens, ticks, bold, first, sizes) {
  return {
    ...axis,
    range: [first - 0.5, first + Math.max(tokens.length, 1) - 0.5],
    tickvals: ticks.positions.map((column) => column + first),
    ticktext: ticksBelow(ticks, bold),
    tickangle: ticks.angle,
    tickfont: { ...axis.tickfont, size: cellSize(tokens.length, 1, sizes).font },
  };
}

/** `weights`: a list for each of the panels called `names`, as many as the template has; `outlined`: columns from 0. */
export function filledBars({ spec, ...rest }, { weights, tokens, names, outlined = [], first = 0 }, sizes) {
  const { PANEL, NAME, FOOT, LEGEND } = sizes.BARS;
  const ticks = ticksOf(tokens, sizes);
  const highest = Math.max(0, ...weights.flat()) || 1;
  const head = sizes.TITLE_HEIGHT + (outlined.length ? LEGEND : 0);
  const height = head + names.length * (PANEL + NAME) + ticks.height + FOOT;
  const frames = outlineOf(outlined, first, highest);
  const panel = (part) => (part.yaxis && part.yaxis !== "y" ? Number(part.yaxis.slice(1)) - 1 : 0);
  const data = spec.data.map((part) => {
    const row = panel(part);
    if (part.type !== "bar") return { ...part, ...frames };
    return { ...part, x: tokens.map((_, i) => i + first), y: weights[row], text: tokens.map((token) => tokenLabel(token, sizes)), name: plainText(names[row], sizes) };
  });
  const { layout } = spec;
  const axes = names.map((_, row) => [axisName(row), { ...layout[axisName(row)], range: [-0.02 * highest, 1.04 * highest] }]);
  return {
    ...rest,
    spec: {
      data: outlined.length ? data : data.filter(({ type }) => type === "bar"),
      layout: {
        ...layout,
        ...Object.fromEntries(axes),
        title: { ...layout.title, y: 1 - sizes.TITLE_HEIGHT / 2 / height },
        xaxis: tokenAxis(layout.xaxis, tokens, ticks, outlined, first, sizes),
        height,
        margin: { ...layout.margin, t: head, b: ticks.height + FOOT },
        annotations: layout.annotations.map((each, row) => ({ ...each, text: plainText(names[row], sizes) })),
        legend: { ...layout.legend, y: 1 - sizes.TITLE_HEIGHT / height },
      },
    },
  };
}

/** A frame around each run of neighbouring columns. */
function outlineOf(columns, first, highest) {
  const [x, y] = [[], []];
  const sorted = [...columns].sort((one, other) => one - other);
  for (const start of sorted.filter((column) => !sorted.includes(column - 1))) {
    let end = start;
    while (sorted.includes(end + 1)) end += 1;
    const [left, right] = [start + first - 0.47, end + first + 0.47];
    x.push(left, left, right, right, left, null);
    y.push(0, highest, highest, 0, 0, null);
  }
  return { x, y };
}

/** `values`: of each method of the template over `tokens`; `split`: where the second group of tokens begins. */
export function filledPanels({ spec, ...rest }, { values, tokens, outlined = [], split }, sizes) {
  const { PANEL, NAME, FOOT, LEGEND, MAY_SHRINK } = sizes.PANELS;
  const ticks = ticksOf(tokens, sizes);
  const foot = FOOT + ticks.height;
  const height = sizes.TITLE_HEIGHT + LEGEND + values.length * (PANEL + NAME) + foot;
  const largest = values.map((row) => Math.max(...row.map(Math.abs)) || 1);
  const isSigned = values.flat().some((value) => value < 0);
  const { layout } = spec;
  const axes = values.map((_, row) => [axisName(row), { ...layout[axisName(row)], range: [isSigned ? -1.05 : -0.02, 1.05] }]);
  const text = tokens.map((token) => tokenLabel(token, sizes));
  return {
    ...rest,
    spec: {
      data: spec.data.map((part, row) => ({ ...part, x: upTo(tokens.length), y: values[row].map((value) => value / largest[row]), customdata: values[row], text })),
      layout: {
        ...layout,
        ...Object.fromEntries(axes),
        title: { ...layout.title, y: 1 - sizes.TITLE_HEIGHT / 2 / height },
        xaxis: tokenAxis(layout.xaxis, tokens, ticks, outlined, 0, sizes),
        height,
        margin: { ...layout.margin, b: foot },
        shapes: layout.shapes.map((line) => ({ ...line, x0: split - 0.5, x1: split - 0.5 })),
        legend: { ...layout.legend, y: 1 - sizes.TITLE_HEIGHT / height },
        meta: { ...layout.meta, least: height - values.length * MAY_SHRINK, tokens: Math.max(tokens.length, 1) },
      },
    },
  };
}

/** As plain_text of viz/labels.py, without its limit: spaces stay spaces. */
const plainText = (text, sizes) => text.split(/\s+/).map((word) => tokenLabel(word, { ...sizes, TICK_LENGTH: Infinity })).join(" ");
