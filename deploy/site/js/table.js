// Tables of numbers as heatmaps, as viz/calculation.py. `template`: that figure for another table.
import { upTo } from "./counting.js";
import { tokenLabel } from "./labels.js";
import { cellSize, columnTicks, ticksAbove } from "./token_axis.js";

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
  if (value && (exponent < -4 || exponent > 3)) return minus(`${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`);
  return minus(String(Number(value.toPrecision(4))));
}

const hides = (hidden, row, column) => Boolean(hidden?.(row, column));

/** One filled rectangle for each run of hidden cells in a row; as viz/hidden.py. */
function areaOf(rows, columns, isHidden) {
  const [x, y] = [[], []];
  for (let row = 0; row < rows; row += 1)
    for (let start = 0; start < columns; start += 1) {
      if (!isHidden(row, start)) continue;
      let end = start;
      while (end < columns && isHidden(row, end)) end += 1;
      const [left, right] = [start - 0.5, end - 0.5];
      x.push(left, right, right, left, null);
      y.push(row - 0.5, row - 0.5, row + 0.5, row + 0.5, null);
      start = end;
    }
  return { x, y };
}

/**
 * `values`: rows of numbers, null for a gap, -Infinity for a masked logit. `isWeight`: colours from 0 to `largest`. `masked`, `padded`:
 * functions of row and column. `small`: whether the legend has weights of almost 0. `design`: pixels of a map from tokens to tokens.
 * `every`: of the column labels. `lines`: of the legend.
 */
export function filledTable({ spec, colours, textfont, ...rest }, table, sizes) {
  const { values, rows, columns, isWeight = false, masked, padded, design = null, every = 1 } = table;
  const { SCALE_HEIGHT, NAME_HEIGHT, LEGEND_HEIGHT, LEGEND_LINE, FOOT, TALLEST_ROW, LOWEST_ROW, WITH_NUMBERS, WITH_GAPS } = sizes.TABLE;
  const hasNumbers = table.numbers ?? columns.length <= WITH_NUMBERS;
  const finite = values.flat().filter((value) => value !== null && Number.isFinite(value)).map(Math.abs);
  const largest = table.largest ?? (isWeight ? 1 : Math.max(0, ...finite) || 1);
  const [high, wide] = [Math.max(rows.length, 1), Math.max(columns.length, 1)];
  const usual = cellSize(columns.length, 1, sizes);
  const cell = { ...usual, width: design === null ? usual.width : Math.min(usual.width, (0.8 * design) / wide) };
  const ticks = columnTicks(columns, cell, sizes);
  const rowHeight = Math.max(LOWEST_ROW, Math.min(TALLEST_ROW, design === null ? 640 / high : design / wide));
  const isMasked = (row, column) => hides(masked, row, column) && !hides(padded, row, column);
  const isPadded = (row, column) => hides(padded, row, column);
  const areas = [areaOf(rows.length, columns.length, isMasked), areaOf(rows.length, columns.length, isPadded)];
  const lines = table.lines ?? Number(Boolean(table.small) || areas.some(({ x }) => x.length));
  const head = sizes.TITLE_HEIGHT + (hasNumbers ? 0 : SCALE_HEIGHT) + ticks.height + 8 + (spec.layout.xaxis.title?.text ? NAME_HEIGHT : 0);
  const foot = FOOT + (lines ? LEGEND_HEIGHT + (lines - 1) * LEGEND_LINE : 0);
  const height = head + high * rowHeight + foot;
  const [map, ...others] = spec.data;
  const [maskedName, paddedName] = ["/", "."].map((shape) => others.find(({ fillpattern }) => fillpattern?.shape === shape)?.name ?? "");
  const reason = (row, column) => (isPadded(row, column) ? paddedName : isMasked(row, column) ? maskedName : "");
  const cells = (write) => values.map((line, row) => line.map((value, column) => write(value, row, column)));
  const exact = (value, row, column) => [[exactText(value), reason(row, column)].filter(Boolean).join(" · "), tokenLabel(columns[column], sizes)];
  const written = (value, row, column) => (isWeight ? weightText(value, Boolean(reason(row, column))) : numberText(value));
  const heatmap = {
    ...map,
    x: upTo(columns.length),
    z: cells((value) => (value !== null && Number.isFinite(value) ? value : null)),
    customdata: cells(exact),
    zmin: isWeight ? 0 : -largest,
    zmax: largest,
    colorscale: colours[isWeight ? "weight" : "signed"][Number(hasNumbers)],
    xgap: Number(columns.length <= WITH_GAPS),
    showscale: !hasNumbers,
    colorbar: { ...map.colorbar, y: 1 - sizes.TITLE_HEIGHT / height },
    ...(hasNumbers && { textfont, texttemplate: "%{text}", text: cells(written) }),
  };
  const drawn = others.filter(({ fill }) => fill).map((part, i) => ({ ...part, ...areas[i] })).filter(({ x }) => x.length);
  const { layout } = spec;
  const kept = upTo(ticks.positions.length).filter((i) => ticks.positions[i] % every === 0);
  const above = ticksAbove(ticks);
  return {
    ...rest,
    spec: {
      data: [heatmap, ...drawn, ...(table.small ? others.filter(({ fill }) => !fill) : [])],
      layout: {
        ...layout,
        title: { ...layout.title, y: 1 - sizes.TITLE_HEIGHT / 2 / height },
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
          ticktext: rows.map((label) => tokenLabel(label, sizes)),
          tickfont: { ...layout.yaxis.tickfont, size: Math.round(Math.min(13, Math.max(9, 0.72 * rowHeight))) },
        },
        height,
        margin: { ...layout.margin, t: head, b: foot },
        meta: { ...layout.meta, lines: Math.max(Math.min(ticks.steps, ticks.positions.length), 1) },
      },
    },
  };
}

/** The steps of one query: `steps` are lists with a number for each key, `weights` the last of them; `names`: of all. */
export function filledCalculation({ spec, ...rest }, { steps, weights, keys, names }, sizes) {
  const [signed, share, ...others] = spec.data;
  const part = (map, more) => ({ ...rest, spec: { ...spec, data: [map, ...more] } });
  const isHidden = (row, column) => steps[column]?.[row] === -Infinity;
  const values = weights.map((_, key) => [...steps.map((step) => step[key]), null]);
  const whole = filledTable(part(signed, others), { values, rows: keys, columns: names, numbers: true, masked: isHidden }, sizes);
  const ofWeights = { values: weights.map((weight) => [weight]), rows: keys, columns: names.slice(-1), isWeight: true, numbers: true };
  const last = filledTable(part(share, others), { ...ofWeights, masked: (row) => steps.some((step) => step[row] === -Infinity) }, sizes);
  const { data, layout } = whole.spec;
  const [map, ...drawn] = data;
  const first = Object.fromEntries(["z", "customdata", "text"].map((name) => [name, map[name].map((row) => row.slice(0, -1))]));
  const maps = [{ ...map, ...first, x: upTo(steps.length) }, { ...last.spec.data[0], x: [steps.length] }];
  return { ...whole, spec: { data: [...maps, ...drawn], layout: { ...layout, xaxis: { ...layout.xaxis, ticktext: spec.layout.xaxis.ticktext } } } };
}
