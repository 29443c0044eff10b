// Which rows and columns of a map belong to a change, and how much heads look there, as model/analysis/edits.py.
import { between, largestFirst, mean, sum, upTo } from "./counting.js";

/** {rows, columns} of one kind of attention with so many columns. */
export function focusOf(kind, { sourceStart, sourceEnd, targetStart, targetEnd }, count) {
  const written = between(targetStart, Math.max(targetEnd, targetStart + 1)); // a deletion shows in the row that follows
  if (kind === "decoder_attention") return { rows: written, columns: written };
  const beside = between(sourceStart - 1, sourceEnd + 1).filter((column) => column >= 0 && column < count);
  const replaced = sourceStart === sourceEnd ? beside : between(sourceStart, sourceEnd);
  return kind === "cross_attention" ? { rows: written, columns: replaced } : { rows: replaced, columns: beside };
}

/** {share, usual}: of each head, layer by layer, how much it looks at a change, and how much at such places where nothing is changed. */
export function attentionToEdit(kind, { values, shape: [layers, heads, rows, columns] }, change, changes) {
  const tiles = upTo(layers * heads);
  const seen = (row, places) => tiles.map((tile) => sum(places.map((column) => values[(tile * rows + row) * columns + column])));
  const standing = standingPlaces(kind, changes, rows);
  const concerned = new Set(changes.flatMap((each) => focusOf(kind, each, columns).rows));
  const others = upTo(rows).filter((row) => !concerned.has(row));
  const [shares, usuals] = [[], []];
  const wanted = focusOf(kind, change, columns);
  for (const row of wanted.rows) {
    const counted = wanted.columns.filter((column) => (kind === "encoder_attention" ? column !== row : kind === "cross_attention" || column <= row));
    shares.push(seen(row, counted));
    if (kind === "decoder_attention" && counted.length === row + 1) {
      usuals.push(shares.at(-1)); // it sees nothing else
      continue;
    }
    const windows = others.map((other) => [other, counted.map((column) => standing[other] + column - standing[row])]);
    const fitting = windows.filter(([, places]) => places.every((place) => place >= 0 && place < columns));
    if (fitting.length) usuals.push(meanOver(fitting.map(([other, places]) => seen(other, places))));
  }
  return { share: meanOver(shares), usual: usuals.length ? meanOver(usuals) : tiles.map(() => 0) };
}

const meanOver = (lists) => lists[0].map((_, i) => mean(lists.map((each) => each[i])));

/** Where each row stands among its keys: a row of cross-attention at the character that a plain copy would look at. */
function standingPlaces(kind, changes, rows) {
  const places = upTo(rows);
  if (kind !== "cross_attention") return places;
  for (const { sourceStart, sourceEnd, targetStart, targetEnd, wrong, right } of changes) {
    for (let row = targetEnd; row < rows; row += 1) places[row] = row - targetEnd + sourceEnd;
    const paired = Math.min(wrong.length, right.length);
    for (let row = targetStart; row < targetEnd; row += 1) places[row] = row - targetStart < paired ? sourceStart + row - targetStart : sourceEnd;
  }
  return places;
}

/** [{layer, head, share, usual}]: the heads that look at the source of a change most beyond what they usually do. */
export function leadingHeads(cross, change, changes, count = 3) {
  const { share, usual } = attentionToEdit("cross_attention", cross, change, changes);
  const heads = cross.shape[1];
  const order = largestFirst(share.map((one, tile) => one - usual[tile])).slice(0, count);
  return order.map((tile) => ({ layer: Math.floor(tile / heads), head: tile % heads, share: share[tile], usual: usual[tile] }));
}

/** Where one head looks while a change is written, the mean over its rows. */
export function attentionOfChange({ values, shape: [, heads, rows, columns] }, { layer, head }, change) {
  const from = (row) => ((layer * heads + head) * rows + row) * columns;
  const looks = focusOf("cross_attention", change, columns).rows.map((row) => Array.from(values.subarray(from(row), from(row) + columns)));
  return meanOver(looks);
}
