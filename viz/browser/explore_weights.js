// Weights of one kind of attention: unpacked, averaged, compared, and put into figures.

/** Float32Array of the weights that explore.py packed. */
async function unpackedWeights(text, unit) {
  const bytes = await window.unpacked(text);
  const count = bytes.length / 2;
  const values = new Float32Array(count);
  for (let i = 0; i < count; i += 1) values[i] = (bytes[i] + 256 * bytes[count + i]) / unit;
  return values;
}

/** Uint8Array of the truth values that explore.py packed; zeros may follow them. */
async function unpackedFlags(text) {
  const bytes = await window.unpacked(text);
  return Uint8Array.from({ length: 8 * bytes.length }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

/** Of two traces the second minus the first. */
function minus(other, one) {
  return other.map((weight, i) => weight - one[i]);
}

/**
 * (row, column) -> whether a mask, or padding, leaves the cell empty; a mask of one layer, or without it of
 * all layers. `sink`
 * columns stand before the tokens. A window says how many tokens to either side are seen, and -1 that
 * there is none; `sparse` (L, Q, K) is 1 where a layer may not look. */
function emptyCells({ isLater = false, prefix = 0, sink = 0, windows = [], sparse, padded, shape }) {
  const [rows, columns] = [new Set(padded.rows), new Set(padded.columns)];
  const isPadded = (row, column) => rows.has(row) || columns.has(column);
  const [layers, , queries, columnsOfAll] = shape;
  const tokens = columnsOfAll - sink;
  const isFar = (row, token, layer) =>
    windows.length > 0 && windows[layer] !== -1 && Math.abs(row - token) > windows[layer];
  const isHole = (row, token, layer) =>
    sparse !== undefined && sparse[(layer * queries + row) * tokens + token] === 1;
  const isAhead = (row, token) => isLater && token > row && !(row < prefix && token < prefix);
  const isMaskedIn = (row, token, layer) =>
    token >= 0 && (isAhead(row, token) || isFar(row, token, layer) || isHole(row, token, layer));
  const every = upTo(windows.length || sparse ? layers : 1);
  const isMasked = (row, column, layer) =>
    layer >= 0
      ? isMaskedIn(row, column - sink, layer)
      : every.every((each) => isMaskedIn(row, column - sink, each));
  return { isPadded, isMasked };
}

/** The hatching of a map where layers have masks of their own; another part of the figure as it is. */
function hatchedIn(layer, area, kind, { x0 = 0, y0 = 0 }) {
  const { windows, sparse, isMasked, isPadded } = kind;
  const [, , rows, columns] = kind.shape;
  if (!(windows || sparse) || area.fillpattern?.shape !== "/") return area;
  const isHatched = (row, column) => isMasked(row, column, layer) && !isPadded(row, column);
  return { ...area, ...areaOf(rows, columns, isHatched, [x0, y0]) };
}

/** A rectangle for each run of hidden cells in a row, counted from `first`; as viz/number_table.py. */
export function areaOf(rows, columns, isHidden, [x0, y0] = [0, 0]) {
  const [x, y] = [[], []];
  for (let row = 0; row < rows; row += 1)
    for (let start = 0; start < columns; start += 1) {
      if (!isHidden(row, start)) continue;
      let end = start;
      while (end < columns && isHidden(row, end)) end += 1;
      const [left, right, top] = [start + x0 - 0.5, end + x0 - 0.5, row + y0 - 0.5];
      x.push(left, right, right, left, null);
      y.push(top, top, top + 1, top + 1, null);
      start = end;
    }
  return { x, y };
}

/** [[layer, head], …] that a choice of layer and head stands for. */
function headsOf({ shape: [layers, heads] }, layer, head) {
  const each = (chosen, count) => (chosen === MEAN ? upTo(count) : [chosen]);
  return each(layer, layers).flatMap((one) => each(head, heads).map((other) => [one, other]));
}

/** Float32Array (Q * K) of one head, or of the mean over those chosen. */
function mapOf(kind, layer, head) {
  const [, heads, rows, columns] = kind.shape;
  const size = rows * columns;
  const chosen = headsOf(kind, layer, head);
  const of = ([one, other]) =>
    kind.values.subarray((one * heads + other) * size, (one * heads + other + 1) * size);
  if (chosen.length === 1) return of(chosen[0]);
  const sum = new Float32Array(size);
  for (const values of chosen.map(of)) for (let i = 0; i < size; i += 1) sum[i] += values[i] / chosen.length;
  return sum;
}

/** The same without the column of the sink. */
function tokensOf(kind, layer, head) {
  const { sink = 0 } = kind;
  const columns = kind.shape[3];
  const weights = mapOf(kind, layer, head);
  return sink ? weights.filter((_, i) => i % columns >= sink) : weights;
}

function largestOf(weights) {
  return weights.reduce((largest, weight) => Math.max(largest, Math.abs(weight)), 10 * FAINT);
}

/** Colours up to the weight `largest`; weights below FAINT keep the colour of the ground. */
function fittedTo(heatmap, largest) {
  if (heatmap.zmin < 0) return { ...heatmap, zmin: -largest, zmax: largest };
  const place = (weight) =>
    weight < FAINT ? weight : (FAINT + ((weight - FAINT) * (largest - FAINT)) / (1 - FAINT)) / largest;
  const colorscale = heatmap.colorscale.map(([weight, colour]) => [place(weight), colour]);
  return { ...heatmap, zmax: largest, colorscale };
}

/** All heads as the bytes of one picture; where the tiles stand, the figure's markers say. */
function mosaicOf({ values, shape, joined, windows, sparse, isMasked, isPadded, largest, overview }) {
  const [layers, heads, rows, columns] = shape;
  const { x, y } = overview.spec.data[1];
  const [high, wide] = [Math.ceil(rows / joined), Math.ceil(columns / joined)];
  const start = (middles, size) => middles.map((middle) => Math.round(middle - (size - 1) / 2));
  const [left, top] = [start(x, wide), start(y, high)];
  const [height, width] = [Math.max(...top) + high, Math.max(...left) + wide];
  const bytes = new Uint8Array(height * width).fill(NO_CELL);
  const [byteOf, isStronger] = largest
    ? [signedByte(largest), furtherFromMiddle]
    : [weightByte, (byte, before) => byte > before];
  const emptyIn = (layer) => {
    const found = new Uint8Array(rows * columns);
    for (let row = 0; row < rows; row += 1)
      for (let column = 0; column < columns; column += 1)
        found[row * columns + column] = isPadded(row, column) || isMasked(row, column, layer);
    return found;
  };
  let empty = emptyIn();
  for (let tile = 0; tile < layers * heads; tile += 1) {
    if ((windows || sparse) && tile % heads === 0) empty = emptyIn(tile / heads);
    for (let row = 0; row < rows; row += 1) {
      const first = (top[tile] + Math.floor(row / joined)) * width + left[tile];
      for (let column = 0; column < columns; column += 1) {
        if (empty[row * columns + column]) continue;
        const at = first + Math.floor(column / joined);
        const byte = byteOf(values[(tile * rows + row) * columns + column]);
        if (isStronger(byte, bytes[at])) bytes[at] = byte;
      }
    }
  }
  return spread("u1", bytes, height, width);
}

function weightByte(weight) {
  return WEAKEST + Math.round(weight * (STRONGEST - WEAKEST));
}

function signedByte(largest) {
  // Rounding may leave a little more.
  const share = (difference) => Math.min(1, Math.max(-1, difference / largest));
  return (difference) => MIDDLE + Math.round(share(difference) * (STRONGEST - MIDDLE));
}

function furtherFromMiddle(byte, before) {
  return before === NO_CELL || Math.abs(byte - MIDDLE) > Math.abs(before - MIDDLE);
}

/** A frame around a tile of the overview. */
function frame(spec, place, color) {
  const { x, y, customdata } = spec.data[1];
  const tile = customdata.findIndex((each) => String(each) === String(place));
  const [beside, above] = spec.layout.meta.half.map((half) => half + 0.5);
  const across = { x0: x[tile] - beside, x1: x[tile] + beside };
  return { type: "rect", ...across, y0: y[tile] - above, y1: y[tile] + above, line: { color, width: 3 } };
}

/** For each row the fewest [query, key, weight] that carry `mass` of it, strongest first; as lines.py. */
function strongestEdges(weights, [, , rows], mass) {
  const columns = weights.length / rows;
  return upTo(rows).map((query) => {
    const row = weights.subarray(query * columns, (query + 1) * columns);
    const wanted = row.reduce((sum, weight) => sum + weight, 0) * mass - ROUNDING;
    const found = [];
    let before = 0;
    for (const key of Array.from(row.keys()).sort((one, other) => row[other] - row[one])) {
      if (before >= wanted || row[key] <= 0) break;
      found.push([query, key, Number(row[key].toFixed(DIGITS))]);
      before += row[key];
    }
    return found;
  });
}

/** At most MOST_LINES edges: all rows of all heads may keep equally many, the strongest; as lines.py. */
function thinned(heads) {
  const sizes = heads.flat().map((row) => row.length);
  let allowed = Math.max(...sizes);
  while (allowed > 1 && sizes.reduce((sum, size) => sum + Math.min(size, allowed), 0) > MOST_LINES)
    allowed -= 1;
  return heads.map((rows) => rows.map((row) => row.slice(0, allowed)));
}

function lowerTriangle(weights, columns) {
  return weights.filter((_, i) => i % columns <= Math.floor(i / columns));
}

/** Numbers as Plotly takes them without a list. */
function spread(dtype, values, rows, columns) {
  return { dtype, bdata: base64(values), shape: `${rows}, ${columns}` };
}

function base64(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  if (bytes.toBase64) return bytes.toBase64(); // browsers from 2025 on
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768)
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };

/** `text` for Plotly, which reads some HTML and formulas between dollar signs. */
export function escaped(text) {
  return text.replace(/[&<>$]/g, (sign) => ENTITIES[sign]);
}
