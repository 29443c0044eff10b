// Charts of the further views: head mosaics, scatter plots, bars, number tables.
import { areaOf, cellSize, columnTicks, ticksAbove, ticksBelow, tokenLabel } from "./figures.js";
import { upTo } from "./numbers.js";

// --- A square and a point for each head, as viz/head_mosaic.py and viz/head_studies.py. `template`: that
// figure with other numbers.

const isSame = (one, other) => String(one) === String(other);
const signed = (value) => `${value < 0 || Object.is(value, -0) ? "-" : "+"}${Math.abs(value).toFixed(3)}`;

/**
 * `effect`: of each head in the order of the template's squares; `chosen`: heads [kind, layer, head] that are
 * framed.
 */
export function filledMosaic({ spec, ...rest }, { effect, chosen }) {
  const squares = spec.data.at(-1);
  const largest = Math.max(...effect.map(Math.abs)) || 1;
  const kinds = [...new Set(squares.customdata.map(([kind]) => kind))];
  const layers = 1 + Math.max(...squares.customdata.map(([, layer]) => layer));
  const grid = (kind) =>
    upTo(layers).map((row) =>
      effect.filter((_, i) => squares.customdata[i][0] === kind && squares.customdata[i][1] === row),
    );
  const data = spec.data
    .slice(0, -1)
    .map((part, number) => ({ ...part, z: grid(kinds[number]), zmin: -largest, zmax: largest }));
  const text = squares.text.map((told, i) => told.replace(/<b>[^<]*<\/b>$/, `<b>${signed(effect[i])}</b>`));
  const frames = chosen.map((head) => {
    const at = squares.customdata.findIndex((each) => isSame(each, head));
    const [x, y] = [squares.x[at], squares.y[at]];
    return { ...spec.layout.shapes[0], x0: x - 0.5, x1: x + 0.5, y0: y - 0.5, y1: y + 0.5 };
  });
  return {
    ...rest,
    spec: { data: [...data, { ...squares, text }], layout: { ...spec.layout, shapes: frames } },
  };
}

/** `attention`, `effect`: of each of `heads`. */
export function filledScatter({ spec, ...rest }, { heads, attention, effect, chosen }) {
  const data = spec.data.map((cloud) => {
    const places = cloud.customdata.map((head) => heads.findIndex((each) => isSame(each, head)));
    const width = cloud.customdata.map((head) => (chosen.some((each) => isSame(each, head)) ? 3 : 0));
    const marker = { ...cloud.marker, line: { ...cloud.marker.line, width } };
    return { ...cloud, x: places.map((i) => attention[i]), y: places.map((i) => effect[i]), marker };
  });
  return { ...rest, spec: { ...spec, data } };
}

// --- Bars over the tokens of a sentence, as viz/bars.py. `template`: that figure for another sentence.

const axisName = (row) => `yaxis${row ? row + 1 : ""}`;
const ticksOf = (tokens) => columnTicks(tokens, cellSize(tokens.length, 1));

function tokenAxis(axis, tokens, ticks, bold, first) {
  return {
    ...axis,
    range: [first - 0.5, first + Math.max(tokens.length, 1) - 0.5],
    tickvals: ticks.positions.map((column) => column + first),
    ticktext: ticksBelow(ticks, bold),
    tickangle: ticks.angle,
    tickfont: { ...axis.tickfont, size: cellSize(tokens.length, 1).font },
  };
}

/** [name, axis] of each of the `panels`, with one `range`. */
const ranged = (layout, panels, range) =>
  panels.map((_, row) => [axisName(row), { ...layout[axisName(row)], range }]);

/** Panels below one title and one legend; `axes`: [name, axis] of each. */
function overTokens(layout, { axes, height, margin }) {
  return {
    ...layout,
    ...Object.fromEntries(axes),
    title: { ...layout.title, y: 1 - TITLE_HEIGHT / 2 / height },
    height,
    margin: { ...layout.margin, ...margin },
    legend: { ...layout.legend, y: 1 - TITLE_HEIGHT / height },
  };
}

/**
 * `weights`: a list for each of the panels called `names`, as many as the template has; `outlined`: columns
 * from 0.
 */
export function filledBars({ spec, ...rest }, { weights, tokens, names, outlined = [], first = 0 }) {
  const ticks = ticksOf(tokens);
  const highest = Math.max(0, ...weights.flat()) || 1;
  const head = TITLE_HEIGHT + (outlined.length ? BARS.legend : 0);
  const height = head + names.length * (BARS.panel + BARS.name) + ticks.height + BARS.foot;
  const frames = outlineOf(outlined, first, highest);
  const panel = (part) => (part.yaxis && part.yaxis !== "y" ? Number(part.yaxis.slice(1)) - 1 : 0);
  const data = spec.data.map((part) => {
    const row = panel(part);
    if (part.type !== "bar") return { ...part, ...frames };
    return {
      ...part,
      x: tokens.map((_, i) => i + first),
      y: weights[row],
      text: tokens.map((token) => tokenLabel(token)),
      name: plainText(names[row]),
    };
  });
  const { layout } = spec;
  const axes = ranged(layout, names, [-0.02 * highest, 1.04 * highest]);
  return {
    ...rest,
    spec: {
      data: outlined.length ? data : data.filter(({ type }) => type === "bar"),
      layout: {
        ...overTokens(layout, { axes, height, margin: { t: head, b: ticks.height + BARS.foot } }),
        xaxis: tokenAxis(layout.xaxis, tokens, ticks, outlined, first),
        annotations: layout.annotations.map((each, row) => ({ ...each, text: plainText(names[row]) })),
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

/**
 * `values`: of each method of the template over `tokens`; `split`: where the second group of tokens begins.
 */
export function filledPanels({ spec, ...rest }, { values, tokens, outlined = [], split }) {
  const ticks = ticksOf(tokens);
  const foot = PANELS.foot + ticks.height;
  const height = TITLE_HEIGHT + PANELS.legend + values.length * (PANELS.panel + PANELS.name) + foot;
  const largest = values.map((row) => Math.max(...row.map(Math.abs)) || 1);
  const isSigned = values.flat().some((value) => value < 0);
  const { layout } = spec;
  const axes = ranged(layout, values, [isSigned ? -1.05 : -0.02, 1.05]);
  const text = tokens.map((token) => tokenLabel(token));
  return {
    ...rest,
    spec: {
      data: spec.data.map((part, row) => ({
        ...part,
        x: upTo(tokens.length),
        y: values[row].map((value) => value / largest[row]),
        customdata: values[row],
        text,
      })),
      layout: {
        ...overTokens(layout, { axes, height, margin: { b: foot } }),
        xaxis: tokenAxis(layout.xaxis, tokens, ticks, outlined, 0),
        shapes: layout.shapes.map((line) => ({ ...line, x0: split - 0.5, x1: split - 0.5 })),
        meta: {
          ...layout.meta,
          least: height - values.length * PANELS.may_shrink,
          tokens: Math.max(tokens.length, 1),
        },
      },
    },
  };
}

/** As plain_text of viz/labels.py, without its limit: spaces stay spaces. */
const plainText = (text) =>
  text
    .split(/\s+/)
    .map((word) => tokenLabel(word, Infinity))
    .join(" ");

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
  if (value < 0.005) return "<0.01";
  return value >= 0.995 ? ">0.99" : numberText(value);
}

/** Four digits, as Python's format "g" writes them. */
function exactText(value) {
  if (value === null || !Number.isFinite(value)) return numberText(value);
  const [digits, exponent] = value.toExponential(3).split("e").map(Number);
  if (value && (exponent < -4 || exponent > 3))
    return minus(`${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`);
  return minus(String(Number(value.toPrecision(4))));
}

const hides = (hidden, row, column) => Boolean(hidden?.(row, column));

/**
 * `values`: rows of numbers, null for a gap, -Infinity for a masked logit. `isWeight`: colours from 0 to
 * `largest`. `masked`, `padded`: functions of row and column. `small`: whether the legend has weights of
 * almost 0. `design`: pixels of a map from tokens to tokens. `every`: of the column labels. `lines`: of the
 * legend.
 */
export function filledTable({ spec, colours, textfont, ...rest }, table) {
  const { values, rows, columns, isWeight = false, masked, padded, design = null, every = 1 } = table;
  const hasNumbers = table.numbers ?? columns.length <= TABLE.with_numbers;
  const finite = values
    .flat()
    .filter((value) => value !== null && Number.isFinite(value))
    .map(Math.abs);
  const largest = table.largest ?? (isWeight ? 1 : Math.max(0, ...finite) || 1);
  const [high, wide] = [Math.max(rows.length, 1), Math.max(columns.length, 1)];
  const usual = cellSize(columns.length, 1);
  const cell = {
    ...usual,
    width: design === null ? usual.width : Math.min(usual.width, (0.8 * design) / wide),
  };
  const ticks = columnTicks(columns, cell);
  const rowHeight = Math.max(
    TABLE.lowest_row,
    Math.min(TABLE.tallest_row, design === null ? 640 / high : design / wide),
  );
  const isMasked = (row, column) => hides(masked, row, column) && !hides(padded, row, column);
  const isPadded = (row, column) => hides(padded, row, column);
  const areas = [
    areaOf(rows.length, columns.length, isMasked),
    areaOf(rows.length, columns.length, isPadded),
  ];
  const lines = table.lines ?? Number(Boolean(table.small) || areas.some(({ x }) => x.length));
  const head =
    TITLE_HEIGHT +
    (hasNumbers ? 0 : TABLE.scale) +
    ticks.height +
    8 +
    (spec.layout.xaxis.title?.text ? TABLE.name : 0);
  const foot = TABLE.foot + (lines ? TABLE.legend + (lines - 1) * TABLE.legend_line : 0);
  const height = head + high * rowHeight + foot;
  const [map, ...others] = spec.data;
  const [maskedName, paddedName] = ["/", "."].map(
    (shape) => others.find(({ fillpattern }) => fillpattern?.shape === shape)?.name ?? "",
  );
  const reason = (row, column) =>
    isPadded(row, column) ? paddedName : isMasked(row, column) ? maskedName : "";
  const cells = (write) => values.map((line, row) => line.map((value, column) => write(value, row, column)));
  const exact = (value, row, column) => [
    [exactText(value), reason(row, column)].filter(Boolean).join(" · "),
    tokenLabel(columns[column]),
  ];
  const written = (value, row, column) =>
    isWeight ? weightText(value, Boolean(reason(row, column))) : numberText(value);
  const heatmap = {
    ...map,
    x: upTo(columns.length),
    z: cells((value) => (value !== null && Number.isFinite(value) ? value : null)),
    customdata: cells(exact),
    zmin: isWeight ? 0 : -largest,
    zmax: largest,
    colorscale: colours[isWeight ? "weight" : "signed"][Number(hasNumbers)],
    xgap: Number(columns.length <= TABLE.with_gaps),
    showscale: !hasNumbers,
    colorbar: { ...map.colorbar, y: 1 - TITLE_HEIGHT / height },
    ...(hasNumbers && { textfont, texttemplate: "%{text}", text: cells(written) }),
  };
  const drawn = others
    .filter(({ fill }) => fill)
    .map((part, i) => ({ ...part, ...areas[i] }))
    .filter(({ x }) => x.length);
  const { layout } = spec;
  const kept = upTo(ticks.positions.length).filter((i) => ticks.positions[i] % every === 0);
  const above = ticksAbove(ticks);
  return {
    ...rest,
    spec: {
      data: [heatmap, ...drawn, ...(table.small ? others.filter(({ fill }) => !fill) : [])],
      layout: {
        ...layout,
        title: { ...layout.title, y: 1 - TITLE_HEIGHT / 2 / height },
        xaxis: {
          ...layout.xaxis,
          range: [-0.5, wide - 0.5],
          tickvals: kept.map((i) => ticks.positions[i]),
          ticktext: kept.map((i) => above[i]),
          tickangle: ticks.angle,
          tickfont: { ...layout.xaxis.tickfont, size: cell.font },
        },
        yaxis: {
          ...layout.yaxis,
          range: [high - 0.5, -0.5],
          tickvals: upTo(rows.length),
          ticktext: rows.map((label) => tokenLabel(label)),
          tickfont: {
            ...layout.yaxis.tickfont,
            size: Math.round(Math.min(13, Math.max(9, 0.72 * rowHeight))),
          },
        },
        height,
        margin: { ...layout.margin, t: head, b: foot },
        meta: { ...layout.meta, lines: Math.max(Math.min(ticks.steps, ticks.positions.length), 1) },
      },
    },
  };
}

/**
 * The steps of one query: `steps` are lists with a number for each key, `weights` the last of them; `names`:
 * of all.
 */
export function filledCalculation({ spec, ...rest }, { steps, weights, keys, names }) {
  const [signed, share, ...others] = spec.data;
  const part = (map, more) => ({ ...rest, spec: { ...spec, data: [map, ...more] } });
  const isHidden = (row, column) => steps[column]?.[row] === -Infinity;
  const values = weights.map((_, key) => [...steps.map((step) => step[key]), null]);
  const whole = filledTable(part(signed, others), {
    values,
    rows: keys,
    columns: names,
    numbers: true,
    masked: isHidden,
  });
  const ofWeights = {
    values: weights.map((weight) => [weight]),
    rows: keys,
    columns: names.slice(-1),
    isWeight: true,
    numbers: true,
  };
  const last = filledTable(part(share, others), {
    ...ofWeights,
    masked: (row) => steps.some((step) => step[row] === -Infinity),
  });
  const { data, layout } = whole.spec;
  const [map, ...drawn] = data;
  const first = Object.fromEntries(
    ["z", "customdata", "text"].map((name) => [name, map[name].map((row) => row.slice(0, -1))]),
  );
  const maps = [
    { ...map, ...first, x: upTo(steps.length) },
    { ...last.spec.data[0], x: [steps.length] },
  ];
  return {
    ...whole,
    spec: {
      data: [...maps, ...drawn],
      layout: { ...layout, xaxis: { ...layout.xaxis, ticktext: spec.layout.xaxis.ticktext } },
    },
  };
}
