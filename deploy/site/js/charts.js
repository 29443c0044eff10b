// Charts of the further views: head mosaics, scatter plots, bars, number tables.
import { merged } from "../../../viz/browser/dom.js";
import { areaOf } from "../../../viz/browser/explore_weights.js";
import { cellSize, columnTicks, filledIn, ticksAbove, ticksBelow, tokenLabel } from "./figures.js";
import { upTo } from "./numbers.js";

// --- A square and a point for each head, as viz/head_mosaic.py and viz/head_studies.py.

const isSame = (one, other) => String(one) === String(other);
const signed = (value) =>
  `${value < 0 && value.toFixed(3) !== "-0.000" ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

/** `effect`: of each head in the order of the squares; `chosen`: framed heads [kind, layer, head]. */
export function filledMosaic(template, { effect, chosen }) {
  const { data: parts, layout } = template.spec;
  const squares = parts.at(-1);
  const largest = Math.max(...effect.map(Math.abs)) || 1;
  const kinds = [...new Set(squares.customdata.map(([kind]) => kind))];
  const layers = 1 + Math.max(...squares.customdata.map(([, layer]) => layer));
  const grid = (kind) =>
    upTo(layers).map((row) =>
      effect.filter((_, i) => squares.customdata[i][0] === kind && squares.customdata[i][1] === row),
    );
  const coloured = (part, kind) => ({ ...part, z: grid(kinds[kind]), zmin: -largest, zmax: largest });
  const data = parts.slice(0, -1).map(coloured);
  const text = squares.text.map((told, i) => told.replace(/<b>[^<]*<\/b>$/, `<b>${signed(effect[i])}</b>`));
  const shapes = chosen.map((head) => {
    const at = squares.customdata.findIndex((each) => isSame(each, head));
    const [x, y] = [squares.x[at], squares.y[at]];
    return { ...layout.shapes[0], x0: x - 0.5, x1: x + 0.5, y0: y - 0.5, y1: y + 0.5 };
  });
  return filledIn(template, [...data, { ...squares, text }], { shapes });
}

/** `attention`, `effect`: of each of `heads`. */
export function filledScatter(template, { heads, attention, effect, chosen }) {
  const data = template.spec.data.map((cloud) => {
    const places = cloud.customdata.map((head) => heads.findIndex((each) => isSame(each, head)));
    const width = cloud.customdata.map((head) => (chosen.some((each) => isSame(each, head)) ? 3 : 0));
    const [x, y] = [attention, effect].map((values) => places.map((i) => values[i]));
    return merged(cloud, { x, y, marker: { line: { width } } });
  });
  return filledIn(template, data);
}

// --- Bars over the tokens of a sentence, as viz/bars.py. `template`: that figure for another sentence.

const axisName = (row) => `yaxis${row ? row + 1 : ""}`;
const ticksOf = (tokens) => columnTicks(tokens, cellSize(tokens.length, 1));
const axisOf = (range, tickvals, ticktext, size) => ({ range, tickvals, ticktext, tickfont: { size } });

/**
 * What panels above one axis of tokens change in a layout: `range` of each of so many `panels`, `bold`
 * columns counted from 0, and the number `first` of the first one.
 */
function overTokens(tokens, { panels, range, height, margin, bold, first = 0 }) {
  const ticks = ticksOf(tokens);
  const columns = [first - 0.5, first + Math.max(tokens.length, 1) - 0.5];
  const places = ticks.positions.map((column) => column + first);
  const across = axisOf(columns, places, ticksBelow(ticks, bold), cellSize(tokens.length, 1).font);
  const rows = Object.fromEntries(upTo(panels).map((row) => [axisName(row), { range }]));
  const [title, legend] = [TITLE_HEIGHT / 2, TITLE_HEIGHT].map((above) => ({ y: 1 - above / height }));
  return { ...rows, xaxis: { ...across, tickangle: ticks.angle }, title, legend, height, margin };
}

/** `weights`: a list for each of the panels called `names`; `outlined`: columns from 0. */
export function filledBars(template, { weights, tokens, names, outlined = [], first = 0 }) {
  const foot = ticksOf(tokens).height + BARS.foot;
  const highest = Math.max(0, ...weights.flat()) || 1;
  const head = TITLE_HEIGHT + (outlined.length ? BARS.legend : 0);
  const height = head + names.length * (BARS.panel + BARS.name) + foot;
  const frames = outlineOf(outlined, first, highest);
  const panel = (part) => (part.yaxis && part.yaxis !== "y" ? Number(part.yaxis.slice(1)) - 1 : 0);
  const data = template.spec.data.map((part) => {
    if (part.type !== "bar") return { ...part, ...frames };
    const x = tokens.map((_, i) => i + first);
    const text = tokens.map((token) => tokenLabel(token));
    return { ...part, x, y: weights[panel(part)], text, name: plainText(names[panel(part)]) };
  });
  const range = [-0.02 * highest, 1.04 * highest];
  const placed = { panels: names.length, range, height, margin: { t: head, b: foot }, bold: outlined, first };
  const named = (each, row) => ({ ...each, text: plainText(names[row]) });
  const annotations = template.spec.layout.annotations.map(named);
  const drawn = outlined.length ? data : data.filter(({ type }) => type === "bar");
  return filledIn(template, drawn, { ...overTokens(tokens, placed), annotations });
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

/** `values`: of each method over `tokens`; `split`: where the second group of tokens begins. */
export function filledPanels(template, { values, tokens, outlined = [], split }) {
  const foot = PANELS.foot + ticksOf(tokens).height;
  const height = TITLE_HEIGHT + PANELS.legend + values.length * (PANELS.panel + PANELS.name) + foot;
  const largest = values.map((row) => Math.max(...row.map(Math.abs)) || 1);
  const isSigned = values.flat().some((value) => value < 0);
  const range = [isSigned ? -1.05 : -0.02, 1.05];
  const placed = { panels: values.length, range, height, margin: { b: foot }, bold: outlined };
  const text = tokens.map((token) => tokenLabel(token));
  const { data, layout } = template.spec;
  const drawn = data.map((part, row) => {
    const y = values[row].map((value) => value / largest[row]);
    return { ...part, x: upTo(tokens.length), y, customdata: values[row], text };
  });
  const shapes = layout.shapes.map((line) => ({ ...line, x0: split - 0.5, x1: split - 0.5 }));
  const meta = { least: height - values.length * PANELS.may_shrink, tokens: Math.max(tokens.length, 1) };
  return filledIn(template, drawn, { ...overTokens(tokens, placed), shapes, meta });
}

/** As plain_text of viz/labels.py, without its limit: spaces stay spaces. */
const plainText = (text) => text.replace(/\s+/g, " ").replace(/\S+/g, (word) => tokenLabel(word, Infinity));

// --- Tables of numbers as heatmaps, as viz/number_table.py. `template`: that figure for another table.

const minus = (text) => text.replace("-", "−");

/** Rounded, without needless zeros, −∞ for a masked logit, nothing for a gap. */
export function numberText(value, digits = 2) {
  if (value === null) return "";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = String(Number(value.toFixed(digits)));
  return text === "-0" ? "0" : minus(text);
}

function weightText(value, isHidden) {
  if (isHidden || value === null || value >= 1) return numberText(value);
  if (value < 0.0005) return "<0.001";
  return value >= 0.9995 ? ">0.999" : value.toFixed(3);
}

/** Four digits, as Python's format "g" writes them. */
function exactText(value) {
  if (value === null || !Number.isFinite(value)) return numberText(value);
  const [digits, exponent] = value.toExponential(3).split("e").map(Number);
  if (value && (exponent < -4 || exponent > 3))
    return minus(`${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`);
  return minus(String(Number(value.toPrecision(4))));
}

/**
 * `values`: rows of numbers, null for a gap, -Infinity for a masked logit. `isWeight`: colours from 0 to
 * `largest`. `masked`, `padded`: functions of row and column. `small`: whether the legend has weights of
 * almost 0. `design`: pixels of a map from tokens to tokens. `every`: of the column labels. `lines`: of the
 * legend.
 */
export function filledTable({ colours, textfont, ...template }, table) {
  const { values, rows, columns, isWeight = false, design = null, every = 1 } = table;
  const { masked = () => false, padded = () => false } = table;
  const hasNumbers = table.numbers ?? columns.length <= TABLE.with_numbers;
  const isNumber = (value) => value !== null && Number.isFinite(value);
  const finite = values.flat().filter(isNumber).map(Math.abs);
  const largest = table.largest ?? (isWeight ? 1 : Math.max(0, ...finite) || 1);
  const [high, wide] = [Math.max(rows.length, 1), Math.max(columns.length, 1)];
  const cell = cellSize(columns.length, 1);
  if (design !== null) cell.width = Math.min(cell.width, (0.8 * design) / wide);
  const ticks = columnTicks(columns, cell);
  const tallest = Math.min(TABLE.tallest_row, design === null ? 640 / high : design / wide);
  const rowHeight = Math.max(TABLE.lowest_row, tallest);
  const isMasked = (row, column) => masked(row, column) && !padded(row, column);
  const areas = [isMasked, padded].map((isHidden) => areaOf(rows.length, columns.length, isHidden));
  const lines = table.lines ?? Number(Boolean(table.small) || areas.some(({ x }) => x.length));
  const [map, ...others] = template.spec.data;
  const { layout } = template.spec;
  const axisNames = layout.xaxis.title?.text ? TABLE.name : 0;
  const head = TITLE_HEIGHT + (hasNumbers ? 0 : TABLE.scale) + ticks.height + 8 + axisNames;
  const foot = TABLE.foot + (lines ? TABLE.legend + (lines - 1) * TABLE.legend_line : 0);
  const height = head + high * rowHeight + foot;
  const [maskedName, paddedName] = ["/", "."].map(
    (shape) => others.find(({ fillpattern }) => fillpattern?.shape === shape)?.name ?? "",
  );
  const reason = (row, column) =>
    padded(row, column) ? paddedName : isMasked(row, column) ? maskedName : "";
  const cells = (write) => values.map((line, row) => line.map((value, column) => write(value, row, column)));
  const exact = (value, row, column) => [
    [exactText(value), reason(row, column)].filter(Boolean).join(" · "),
    tokenLabel(columns[column]),
  ];
  const written = (value, row, column) =>
    isWeight ? weightText(value, Boolean(reason(row, column))) : numberText(value);
  const heatmap = merged(map, {
    x: upTo(columns.length),
    z: cells((value) => (isNumber(value) ? value : null)),
    customdata: cells(exact),
    zmin: isWeight ? 0 : -largest,
    zmax: largest,
    colorscale: colours[isWeight ? "weight" : "signed"][Number(hasNumbers)],
    xgap: Number(columns.length <= TABLE.with_gaps),
    showscale: !hasNumbers,
    colorbar: { y: 1 - TITLE_HEIGHT / height },
    ...(hasNumbers && { textfont, texttemplate: "%{text}", text: cells(written) }),
  });
  const hatched = others.filter(({ fill }) => fill).map((part, i) => ({ ...part, ...areas[i] }));
  const drawn = hatched.filter(({ x }) => x.length);
  const above = ticksAbove(ticks);
  const kept = (all) => all.filter((_, i) => ticks.positions[i] % every === 0);
  const rowFont = Math.round(Math.min(13, Math.max(9, 0.72 * rowHeight)));
  const across = axisOf([-0.5, wide - 0.5], kept(ticks.positions), kept(above), cell.font);
  const labels = rows.map((label) => tokenLabel(label));
  const legend = table.small ? others.filter(({ fill }) => !fill) : [];
  return filledIn(template, [heatmap, ...drawn, ...legend], {
    title: { y: 1 - TITLE_HEIGHT / 2 / height },
    xaxis: { ...across, tickangle: ticks.angle },
    yaxis: axisOf([high - 0.5, -0.5], upTo(rows.length), labels, rowFont),
    height,
    margin: { t: head, b: foot },
    meta: { lines: Math.max(Math.min(ticks.steps, ticks.positions.length), 1) },
  });
}

/** `steps`: lists with a number for each key, `weights` the last of them; `names`: of all. */
export function filledCalculation(template, { steps, weights, keys, names }) {
  const [signed, share, ...others] = template.spec.data;
  const part = (map) => filledIn(template, [map, ...others]);
  const table = { rows: keys, columns: names, numbers: true };
  const whole = filledTable(part(signed), {
    ...table,
    values: weights.map((_, key) => [...steps.map((step) => step[key]), null]),
    masked: (row, column) => steps[column]?.[row] === -Infinity,
  });
  const last = filledTable(part(share), {
    ...table,
    values: weights.map((weight) => [weight]),
    columns: names.slice(-1),
    isWeight: true,
    masked: (row) => steps.some((step) => step[row] === -Infinity),
  });
  const [map, ...drawn] = whole.spec.data;
  const first = Object.fromEntries(
    ["z", "customdata", "text"].map((name) => [name, map[name].map((row) => row.slice(0, -1))]),
  );
  const before = { ...map, ...first, x: upTo(steps.length) };
  const softmax = { ...last.spec.data[0], x: [steps.length] };
  const { ticktext } = template.spec.layout.xaxis;
  return filledIn(whole, [before, softmax, ...drawn], { xaxis: { ticktext } });
}
