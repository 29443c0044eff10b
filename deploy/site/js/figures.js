// Fills the figures of deploy/site/figures.py with the numbers, tokens and changes of a sentence, so that explore.js draws them.
import { upTo } from "./counting.js";
import { tokenLabel, visibleToken, widthInEm } from "./labels.js";
import { cellSize, columnTicks, rowTicks, ticksAbove } from "./token_axis.js";

/** `template`: figures without a sentence. `trace`: of corrector.js. `changes`: those made in it. */
export function figuresOf(template, trace, changes, sizes) {
  const kinds = template.kinds.map((kind) => {
    const [queries, keys] = axesOf(kind.kind, trace);
    const { values, weights, shape } = trace.attention[kind.kind]; // weights: packed by explore.py
    const rows = changedRows(changes, kind.kind, queries.length);
    const filled = { ...kind, values, weights, shape, joined: Math.max(1, Math.ceil(Math.max(queries.length, keys.length) / sizes.MOST_CELLS)) };
    const colour = kind.lines.colours.accent;
    const map = (which) => () => withTokens(kind.maps[which], queries, keys, rows, colour, sizes);
    return withLater(filled, {
      overview: () => withTiles(kind.overview, filled, sizes),
      maps: () => withLater({}, { linear: map("linear"), logarithmic: map("logarithmic") }),
      lines: () => withEnds(kind.lines, queries, keys, rows, template.token_name, sizes),
    });
  });
  return withLater({ ...template, kinds }, { steps: () => stepsOf(template, trace, changes, sizes) });
}

/** `object` with parts that are made when they are first asked for: of all maps of a sentence mostly one is drawn. `makers`: name -> function. */
function withLater(object, makers) {
  for (const [name, make] of Object.entries(makers)) {
    const get = () => Object.defineProperty(object, name, { value: make(), enumerable: true })[name];
    Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
  }
  return object;
}

export function axesOf(kind, { sourceTokens, targetTokens, decoderInputTokens }) {
  return {
    encoder_attention: [sourceTokens, sourceTokens],
    decoder_attention: [targetTokens, decoderInputTokens],
    cross_attention: [targetTokens, sourceTokens],
  }[kind];
}

/** The rows that changes concern; where nothing was written, the one that follows. As ui/wording/reading.py. */
export function changedRows(changes, kind, count) {
  const side = kind === "encoder_attention" ? ["sourceStart", "sourceEnd"] : ["targetStart", "targetEnd"];
  const found = new Set();
  for (const change of changes) {
    const [start, end] = side.map((name) => change[name]);
    for (let row = start; row < Math.max(end, start + 1); row += 1) if (row < count) found.add(row);
  }
  return found;
}

/** A heatmap, as viz/attention_layout.py lays it out. */
function withTokens({ spec, ...rest }, queries, keys, emphasised, colour, sizes) {
  const [rows, columns] = [queries.length, keys.length];
  const cell = cellSize(columns, rows, sizes);
  const ticks = columnTicks(keys, cell, sizes);
  const widest = (tokens, least) => Math.max(least, ...tokens.map((token) => widthInEm(visibleToken(token, sizes), sizes)));
  const widestRow = widest(queries, sizes.LEAST_LABEL);
  const above = sizes.TITLE_HEIGHT + sizes.SCALE_HEIGHT;
  const head = above + sizes.LEGEND_HEIGHT + sizes.NAME_HEIGHT + ticks.height;
  const height = head + Math.max(rows, 1) * cell.height + sizes.FOOT;
  const bar = (old) => ({ ...old, y: 1 - sizes.TITLE_HEIGHT / height });
  const gap = Number(cell.square);
  const [heatmap, ...others] = spec.data;
  const data = [
    { ...heatmap, xgap: gap, ygap: gap, ...(heatmap.colorbar && { colorbar: bar(heatmap.colorbar) }) },
    ...others.map((part) => {
      if (part.fill) return { ...part, ...laterCells(rows, columns) };
      return part.marker.colorbar ? { ...part, marker: { ...part.marker, colorbar: bar(part.marker.colorbar) } } : part;
    }),
  ];
  const label = (row) => {
    const text = tokenLabel(queries[row], sizes);
    return emphasised.has(row) ? `<b><span style="color:${colour}">${text}</span></b>` : text;
  };
  const spans = { x: [0.5, Math.max(columns, 1) + 0.5], y: [Math.max(rows, 1) + 0.5, 0.5] };
  const hover = (axis, over, tokens) => ({
    ...axis,
    range: spans[over],
    tickvals: upTo(tokens.length).map((i) => i + 1),
    ticktext: tokens.map((token) => tokenLabel(token, sizes)),
  });
  const { layout } = spec;
  const { scaleanchor, scaleratio, ...yaxis } = layout.yaxis;
  const labelled = rowTicks(rows, cell, emphasised, sizes);
  return {
    ...rest,
    spec: {
      data,
      layout: {
        ...layout,
        title: { ...layout.title, y: 1 - sizes.TITLE_HEIGHT / 2 / height },
        xaxis: {
          ...layout.xaxis,
          range: spans.x,
          tickvals: ticks.positions.map((i) => i + 1),
          ticktext: ticksAbove(ticks),
          tickangle: ticks.angle,
          tickfont: { size: cell.font },
        },
        yaxis: {
          ...yaxis,
          range: spans.y,
          tickvals: labelled.map((row) => row + 1),
          ticktext: labelled.map(label),
          tickfont: { size: cell.font },
          ...(cell.square && { scaleanchor: "x", scaleratio: 1 }),
        },
        xaxis2: hover(layout.xaxis2, "x", keys),
        yaxis2: hover(layout.yaxis2, "y", queries),
        meta: {
          ...layout.meta,
          rows: Math.max(rows, 1),
          columns: Math.max(columns, 1),
          extent: Math.max(rows, columns, 1),
          row_em: tenth(widestRow),
          column_em: tenth(widest(keys, 0)),
          upright: ticks.angle === 0,
        },
        height,
        margin: { ...layout.margin, t: head, l: Math.max(sizes.LEAST_LEFT, sizes.NAME_HEIGHT + widestRow * cell.font) },
        legend: { ...layout.legend, y: 1 - above / height },
      },
    },
  };
}

const tenth = (value) => Number(value.toFixed(1));

/** The cells that the decoder may not look at, one rectangle a row. */
function laterCells(rows, columns) {
  const [x, y] = [[], []];
  for (let row = 0; row < rows && row + 1 < columns; row += 1) {
    const [left, right] = [row + 1.5, columns + 0.5];
    x.push(left, right, right, left, null);
    y.push(row + 0.5, row + 0.5, row + 1.5, row + 1.5, null);
  }
  return { x, y };
}

/** All heads, as viz/head_grid.py places them. */
function withTiles({ spec, ...rest }, { shape: [layers, heads, queries, keys], joined }, sizes) {
  const [rows, columns] = [Math.ceil(queries / joined), Math.ceil(keys / joined)];
  const gap = Math.max(1, Math.round(Math.max(rows, columns) / 20));
  const pixels = Math.max(Math.min(sizes.LARGEST_TILE, sizes.WIDTH / heads), sizes.SMALLEST_TILE) / Math.max(columns, 1);
  const high = Math.max(layers, 1) * Math.max(sizes.SMALLEST_TILE, (rows + gap) * pixels);
  const height = Math.floor(sizes.GRID_NAMES / 2) + high + sizes.GRID_FOOT;
  const barAt = 1 - sizes.TITLE_HEIGHT / (sizes.TITLE_HEIGHT + sizes.GRID_NAMES + high + sizes.GRID_FOOT);
  const middle = (place, size) => place * (size + gap) + (size - 1) / 2;
  const tiles = upTo(layers * heads).map((tile) => [Math.floor(tile / heads), tile % heads]);
  const [heatmap, markers] = spec.data;
  const whole = [layers * (rows + gap) - gap, heads * (columns + gap) - gap];
  const { layout } = spec;
  return {
    ...rest,
    spec: {
      data: [{ ...heatmap, colorbar: { ...heatmap.colorbar, y: barAt } }, { ...markers, x: tiles.map(([, head]) => middle(head, columns)), y: tiles.map(([layer]) => middle(layer, rows)) }],
      layout: {
        ...layout,
        title: { ...layout.title, y: 1 - sizes.TITLE_HEIGHT / 2 / height },
        xaxis: { ...layout.xaxis, range: [-0.5 - gap, whole[1] - 0.5 + gap], tickvals: upTo(heads).map((head) => middle(head, columns)) },
        yaxis: { ...layout.yaxis, range: [whole[0] - 0.5 + gap, -0.5 - gap], tickvals: upTo(layers).map((layer) => middle(layer, rows)) },
        height,
        meta: { ...layout.meta, ratio: whole[0] / whole[1], half: [columns / 2, rows / 2] },
      },
    },
  };
}

/** The ends of lines, as viz/browser/lines.py. A repeated token keeps its own place, which is part of its name. */
function withEnds(lines, queries, keys, rows, name, sizes) {
  const ends = (tokens, changed) =>
    tokens.map((token, i) => {
      const sign = visibleToken(token, sizes);
      return { sign, name: filledIn(name, { token: sign, place: i + 1 }), changed: changed.has(i) };
    });
  return { ...lines, queries: ends(queries, rows), keys: ends(keys, new Set()) };
}

/** What steps.js replays, without the attention; as viz/browser/steps.py. */
function stepsOf({ steps, change_labels }, trace, changes, sizes) {
  const seen = (tokens) => tokens.map((token) => visibleToken(token, sizes));
  const short = (value) => Number(value.toFixed(10));
  const probabilities = trace.logProbabilities.map(Math.exp);
  return {
    ...steps,
    revision: JSON.stringify([trace.sourceTokens, trace.targetTokens]),
    step: Math.min(changes[0]?.targetStart ?? 0, trace.targetTokens.length - 1) + 1,
    source: seen(trace.sourceTokens),
    target: seen(trace.targetTokens),
    start: trace.decoderInputTokens[0],
    changes: changes.map((change) => ({
      label: changeLabel(change_labels, change),
      start: change.targetStart,
      stop: change.targetEnd,
      end: Math.max(change.targetEnd, change.targetStart + 1), // a deletion shows in the row that follows
      source_start: change.sourceStart,
      source_end: change.sourceEnd,
      fix: change.fix ?? null,
      keep: change.keep ?? null,
    })),
    probabilities: probabilities.map(short),
    produced: trace.targetTokens.map((token, row) => producedPlace(trace, row, token, probabilities[row])),
    alternatives: trace.alternatives.map(seen),
    alternative_probabilities: trace.alternativeProbabilities.map((row) => row.map(short)),
  };
}

/** Which of the row's alternatives is the token that it produced; -1 where it is none of them. */
function producedPlace({ alternatives, alternativeProbabilities }, row, token, probability) {
  const place = alternatives[row].indexOf(token);
  const outside = alternatives[row].indexOf("<outside>");
  if (place >= 0 || outside < 0) return place;
  return Math.abs(alternativeProbabilities[row][outside] - probability) <= 1e-8 + 1e-3 * probability ? outside : -1;
}

/** What a change does, in a few characters. */
export function changeLabel(labels, { wrong, right }) {
  const visible = (text) => text.replaceAll(" ", "␣").replaceAll("\n", "↵");
  const happened = wrong && right ? "replaced" : right ? "inserted" : "deleted";
  return filledIn(labels[happened], { wrong: visible(wrong), right: visible(right) });
}

export const filledIn = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
