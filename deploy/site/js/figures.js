// Figure templates filled with a sentence's tokens and numbers; labels and ticks of tokens.
// The templates are those of deploy/site/figures.py.
import { filled, merged } from "../../../viz/browser/dom.js";
import { areaOf, escaped } from "../../../viz/browser/explore_weights.js";
import { ems } from "../../../viz/browser/type.js";
import { upTo } from "./numbers.js";

// --- Labels of tokens, as viz/labels.py. Names in capitals that no import declares are constants of Python
// (deploy/site/figures.py).

const BLANKS = { " ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥" };
const UNSEEN = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}]$/u;

/** The characters that are seen of a token. */
export function visibleToken(token, limit = TICK_LENGTH) {
  const characters = Array.from(token);
  const isJoiner = (character) => character === "\u200d" && characters.length > 1;
  const seen = characters.map((character) => {
    if (character in BLANKS) return BLANKS[character];
    if (isJoiner(character) || !UNSEEN.test(character)) return character;
    return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  });
  const shown = Array.from((seen.length && /^\p{M}/u.test(seen[0]) ? "◌" : "") + seen.join(""));
  if (shown.length <= limit) return shown.join("");
  const kept = shown.slice(0, limit - 1).join("");
  return `${kept.replace(/\u200d+$/, "")}…`;
}

/** [place, its number and its token] of each token, as options of a list. */
export const numbered = (tokens) => tokens.map((token, i) => [i, `${i + 1}: ${visibleToken(token)}`]);

/** The same as Plotly is given it, character by character. */
export function tokenLabel(token, limit = TICK_LENGTH) {
  return escaped(visibleToken(token, limit));
}

// --- Token ticks of charts, as viz/axes.py

/** The cell for so many columns and rows: square while a square one can hold a label. */
export function cellSize(columns, rows) {
  const width = Math.min(LARGEST_CELL, DESIGN_WIDTH / Math.max(columns, 1));
  const square = width >= SMALLEST_SQUARE_CELL && rows <= MOST_LABELLED_ROWS;
  let height = square ? width : SMALLEST_SQUARE_CELL;
  if (rows > MOST_LABELLED_ROWS) height = HEIGHT_OF_MANY_ROWS / rows;
  const font = Math.round(Math.min(LARGEST_FONT, Math.max(SMALLEST_FONT, 0.72 * height)));
  return { width, height, square, font };
}

/** Labels of columns: upright if they fit, on several steps if they are crowded, turned if long. */
export function columnTicks(tokens, { font, width }) {
  let labels = tokens.map((token) => tokenLabel(token));
  let positions = upTo(tokens.length);
  const widths = tokens.map((token) => ems(visibleToken(token))).sort((one, other) => other - one);
  if (widths.length > 2 && widths[2] > 2.2 && widths[2] * font > width)
    return { positions, labels, steps: 1, angle: -90, height: widths[0] * font };
  let steps = Math.ceil((1.15 * font) / width);
  if (steps > MOST_STEPS) {
    const every = Math.ceil(steps / MOST_STEPS);
    [positions, labels] = [positions, labels].map((all) => all.filter((_, i) => i % every === 0));
    steps = MOST_STEPS;
  }
  return { positions, labels, steps, angle: 0, height: 1.3 * font * steps };
}

/** Labels below the columns; those of `bold` stand out. */
export function ticksBelow({ positions, labels, angle, steps }, bold = []) {
  const written = (label, i) => (bold.includes(positions[i]) ? `<b>${label}</b>` : label);
  return labels.map((label, i) => " <br>".repeat(angle ? 0 : i % steps) + written(label, i));
}

/** Labels above the columns: a line break behind one lifts it. */
export function ticksAbove({ labels, angle, steps }) {
  return labels.map((label, i) => label + "<br> ".repeat(angle ? 0 : i % steps));
}

// --- The figures of deploy/site/figures.py with the tokens and changes of a sentence, for explore.js.

/** A template with these traces, and with other values in its layout. */
export const filledIn = (template, data, layout = {}) => merged(template, { spec: { data, layout } });

/** `template`: figures without a sentence. `trace`: of corrector.js. `changes`: those made in it. */
export function figuresOf(template, trace, changes) {
  const kinds = template.kinds.map((kind) => {
    const [queries, keys] = axesOf(kind.kind, trace);
    const rows = changedRows(changes, kind.kind, queries.length);
    const joined = Math.max(1, Math.ceil(Math.max(queries.length, keys.length) / MOST_CELLS));
    // An attention has `values`, or `weights` that explore.py packed.
    const whole = { ...kind, ...trace.attention[kind.kind], joined };
    const colour = kind.lines.colours.accent;
    const map = (which) => () => withTokens(kind.maps[which], queries, keys, rows, colour);
    return withLater(whole, {
      overview: () => withTiles(kind.overview, whole),
      maps: () => withLater({}, { linear: map("linear"), logarithmic: map("logarithmic") }),
      lines: () => withEnds(kind.lines, queries, keys, rows, template.token_name),
    });
  });
  return withLater({ ...template, kinds }, { steps: () => stepsOf(template, trace, changes) });
}

/**
 * `object` with parts that are made when they are first asked for: of all maps of a sentence mostly one is
 * drawn. `makers`: name -> function.
 */
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

/** The rows that changes concern; where nothing was written, the one that follows. As ui/wording.py. */
export function changedRows(changes, kind, count) {
  const side = kind === "encoder_attention" ? ["sourceStart", "sourceEnd"] : ["targetStart", "targetEnd"];
  const found = new Set();
  for (const change of changes) {
    const [start, end] = side.map((name) => change[name]);
    for (let row = start; row < Math.max(end, start + 1); row += 1) if (row < count) found.add(row);
  }
  return found;
}

/** A heatmap with its tokens; plot_fit.js lays it out in pixels. */
function withTokens(template, queries, keys, emphasised, colour) {
  const [rows, columns] = [Math.max(queries.length, 1), Math.max(keys.length, 1)];
  const label = (token, row) => {
    const text = tokenLabel(token);
    return emphasised.has(row) ? `<b><span style="color:${colour}">${text}</span></b>` : text;
  };
  const axis = (tokens, range, written = (token) => tokenLabel(token)) => ({
    range,
    tickvals: tokens.map((_, i) => i + 1),
    ticktext: tokens.map(written),
  });
  const across = axis(keys, [0.5, columns + 0.5]);
  const down = [rows + 0.5, 0.5];
  const { angle } = columnTicks(keys, cellSize(columns, rows));
  const later = () => areaOf(queries.length, keys.length, (row, column) => column > row, [1, 1]);
  const data = template.spec.data.map((part) => (part.fill ? { ...part, ...later() } : part));
  const xaxis = { ...across, tickangle: angle };
  const [yaxis, yaxis2] = [axis(queries, down, label), axis(queries, down)];
  const meta = { rows, columns, extent: Math.max(rows, columns) };
  return filledIn(template, data, { xaxis, yaxis, xaxis2: across, yaxis2, meta });
}

/** All heads, as viz/head_grid.py places them; plot_tiles.js gives them pixels. */
function withTiles(template, { shape: [layers, heads, queries, keys], joined }) {
  const [rows, columns] = [Math.ceil(queries / joined), Math.ceil(keys / joined)];
  const gap = Math.max(1, Math.round(Math.max(rows, columns) / 20));
  const middles = (count, size) => upTo(count).map((place) => place * (size + gap) + (size - 1) / 2);
  const [across, down] = [middles(heads, columns), middles(layers, rows)];
  const [heatmap, markers] = template.spec.data;
  const x = down.flatMap(() => across);
  const y = down.flatMap((middle) => across.map(() => middle));
  const [high, wide] = [layers * (rows + gap) - gap, heads * (columns + gap) - gap];
  const xaxis = { range: [-0.5 - gap, wide - 0.5 + gap], tickvals: across };
  const yaxis = { range: [high - 0.5 + gap, -0.5 - gap], tickvals: down };
  const meta = { ratio: high / wide, half: [columns / 2, rows / 2] };
  return filledIn(template, [heatmap, { ...markers, x, y }], { xaxis, yaxis, meta });
}

/** The ends of lines, as viz/browser/lines.py; a repeated token is named by its place, too. */
function withEnds(lines, queries, keys, rows, name) {
  const ends = (tokens, changed) =>
    tokens.map((token, i) => {
      const sign = visibleToken(token);
      return { sign, name: filled(name, { token: sign, place: i + 1 }), changed: changed.has(i) };
    });
  return { ...lines, queries: ends(queries, rows), keys: ends(keys, new Set()) };
}

/** The data of steps.js without the attention; as viz/browser/steps.py. */
function stepsOf({ steps, change_labels }, trace, changes) {
  const seen = (tokens) => tokens.map((token) => visibleToken(token));
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
  return Math.abs(alternativeProbabilities[row][outside] - probability) <= 1e-8 + 1e-3 * probability
    ? outside
    : -1;
}

/** `text` with its spaces and line ends visible. */
export const withBlanks = (text) => text.replaceAll(" ", "␣").replaceAll("\n", "↵");

/** A change in a few characters. */
export function changeLabel(labels, { wrong, right }) {
  const happened = wrong && right ? "replaced" : right ? "inserted" : "deleted";
  return filled(labels[happened], { wrong: withBlanks(wrong), right: withBlanks(right) });
}
