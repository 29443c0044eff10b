// Site views: attention of one query in numbers, attention masks, positional encodings.
// They compute as ui/views/numbers.py, ui/pages/masks.py and ui/pages/positions.py do.
import { menu } from "../../../viz/browser/dom.js";
import { filledCalculation, filledTable, numberText } from "./charts.js";
import { axesOf, changedRows, filledIn, numbered, visibleToken } from "./figures.js";
import { largestFirst, sinusoids, sum, upTo } from "./numbers.js";
import { percent, withWords } from "./views.js";

const MOST_KEYS = 40; // of a longer sentence, those with the largest weights
// Places behind the sentence in which no token stands, and their sign.
const [PLACES_BEHIND, NO_TOKEN] = [3, "∅"];
const LONGEST_MAP = 30; // tokens, so that every cell can be seen
const [HALF, THIRD] = [440, 260]; // pixels that a map has where two, or three, stand side by side

/** Every step of attention for one query, as model/analysis/building_blocks.py; `sees(key)`: the mask. */
export function dotProduct(query, keys, values, sees = () => true) {
  const products = keys.map((key) => sum(key.map((number, i) => number * query[i])));
  const scaled = products.map((product) => product / Math.sqrt(query.length));
  const logits = scaled.map((score, key) => (sees(key) ? score : -Infinity));
  const highest = Math.max(...logits);
  const shares = logits.map((logit) => (highest === -Infinity ? 0 : Math.exp(logit - highest)));
  const all = sum(shares) || 1;
  const weights = shares.map((share) => share / all);
  const output = values[0].map((_, i) => sum(values.map((value, key) => value[i] * weights[key])));
  return { products, scaled, logits, weights, output };
}

/** The head that is open; a mean has no query and no key, so its first head. */
function headOf({ kind, layer, head }) {
  const [one, other] = [layer, head].map((number) => (number === "mean" ? 0 : number));
  return { kind: kind.kind, layer: one, head: other };
}

/** One query of one head in numbers, from its vector to the sum of the weighted values. */
export function numbers(shared) {
  const { site, say, trace, changes, chosen, explorer, templates } = shared;
  const open = headOf(explorer);
  const [queries, keys] = axesOf(open.kind, trace);
  const last = queries.length - 1;
  const first = Math.min(...changedRows(chosen ? [chosen] : changes, open.kind, queries.length), last);
  const row = Math.min(site.state.row ?? (changes.length ? first : 0), last);
  const choice = menu(say("numbers_query_label"), numbered(queries), row, (row) => site.change({ row }));
  const found = site.inquire({ what: "vectors", ...open });
  if (!found) return { reading: say("site_asking"), controls: [choice] };
  const sees = (key) => open.kind !== "decoder_attention" || key <= row;
  const steps = dotProduct(found.query[row], found.key, found.value, sees);
  const order = largestFirst(steps.weights);
  const [best] = order;
  const shown = order.slice(0, MOST_KEYS).sort((one, other) => one - other);
  const named = shown.map((key) => keys[key]);
  const gap = found.query[row].map(() => null);
  const weighted = shown.map((key) => found.value[key].map((number) => number * steps.weights[key]));
  const columns = gap.map((_, i) => String(i + 1));
  const every = Math.max(Math.floor(columns.length / 8), 1);
  const matrix = (name, values, rows) => {
    const [row, column] = [say(`numbers_${name}_rows`), say("dimension_axis")];
    const words = { rows: row, row, columns: column, column, value: say("value_axis") };
    return filledTable(withWords(templates.table, words), { values, rows, columns, every });
  };
  const of = (list) => shown.map((key) => list[key]);
  const calculation = {
    steps: [of(steps.products), of(steps.scaled), of(steps.logits)],
    weights: of(steps.weights),
    keys: named,
    names: ["q·k", "÷√d", say("numbers_with_mask"), "softmax"],
  };
  const pictures = {
    vectors: matrix("vectors", [found.query[row], gap, ...of(found.key)], [queries[row], "", ...named]),
    scores: filledCalculation(withWords(templates.steps, { masked: say("numbers_masked") }), calculation),
    sum: matrix("sum", [...weighted, gap, steps.output], [...named, "", "o"]),
  };
  const reading = {
    query: visibleToken(queries[row]),
    key: visibleToken(keys[best]),
    position: best + 1,
    product: numberText(steps.products[best]),
    score: numberText(steps.scaled[best]),
    weight: steps.weights[best].toFixed(3),
    hidden: steps.logits.filter((logit) => logit === -Infinity).length,
    place: explorer.place(explorer.kind, open.layer, open.head),
  };
  const picture = (name) => {
    const [heading, words] = ["heading", "words"].map((part) => say(`numbers_${name}_${part}`));
    return { name: `numbers_${name}`, heading, words, data: pictures[name] };
  };
  const rest = { shown: shown.length, rest: (1 - sum(calculation.weights)).toFixed(3) };
  return {
    reading: say("numbers_reading", reading),
    controls: [choice],
    rows: [["vectors", "scores"].map(picture), [picture("sum")]],
    notes: shown.length < keys.length ? [say("numbers_rest", rest)] : [],
  };
}

/** Padding and look-ahead mask of a padded sentence, and their effect before and after the softmax. */
export function masks({ site, say, trace, explorer, templates }) {
  const open = headOf(explorer);
  if (trace.sourceTokens.length > LONGEST_MAP)
    return { reading: say("site_masks_long", { limit: LONGEST_MAP }) };
  // The network writes the text that it has read, so both sides have the same tokens.
  const padding = Array(PLACES_BEHIND).fill(NO_TOKEN);
  const count = trace.sourceTokens.length;
  const read = [...trace.sourceTokens, ...padding];
  const begun = ["<s>", ...trace.sourceTokens.slice(0, -1), ...padding];
  const isLater = (row, column) => column > row;
  const isBehind = (_, column) => column >= count;
  const names = { rows: "", columns: "", row: say("hover_query"), column: say("hover_key") };
  for (const name of ["masked", "padded", "small"]) names[name] = say(`masks_${name}`);
  const map = (kind, table, words = {}) => {
    const columns = kind === "decoder_attention" ? begun : read;
    return filledTable(withWords(templates.table, { ...names, ...words }), { rows: read, columns, ...table });
  };
  const hiding = {
    padding: { padded: isBehind },
    look_ahead: { masked: isLater },
    both_map: { masked: isLater, padded: isBehind },
  };
  const places = upTo(read.length);
  const allowed = ({ masked, padded }) =>
    places.map((row) => places.map((column) => (masked?.(row, column) || padded?.(row, column) ? null : 1)));
  const hiddenIn = (masked) =>
    sum(allowed({ masked }).map((row) => row.filter((cell) => cell === null).length));
  const look = { isWeight: true, largest: 4, numbers: true, design: THIRD, lines: 2 };
  const pictures = Object.entries(hiding).map(([name, hidden]) => {
    const table = { ...look, ...hidden, values: allowed(hidden) };
    const data = map("decoder_attention", table, { value: say("masks_allowed") });
    return { name: `masks_${name}`, heading: say(`masks_${name}_heading`), data };
  });
  const added = hiddenIn((row, column) => !isLater(row, column) && isBehind(row, column));
  const cells = { cells: read.length ** 2, later: hiddenIn(isLater), added };
  const found = site.inquire({ what: "vectors", ...open, padding: PLACES_BEHIND });
  const drawn = found ? beforeAndAfter(say, map, found, open, count, explorer) : [];
  return {
    reading: `${say("masks_both_reading", cells)}${found ? "" : ` ${say("site_asking")}`}`,
    rows: [pictures, ...drawn],
    notes: [say("masks_logits_note")],
  };
}

/** Logits and weights of the open head, without its masks and with them. */
function beforeAndAfter(say, map, { query, key, value }, { kind }, real, explorer) {
  const hidden = {
    padded: (_, column) => column >= real,
    ...(kind === "decoder_attention" && { masked: (row, column) => column > row }),
  };
  const sees = (row) => (column) => !hidden.padded(row, column) && !hidden.masked?.(row, column);
  const without = query.map((one) => dotProduct(one, key, value));
  const withMask = query.map((one, row) => dotProduct(one, key, value, sees(row)));
  const largest = Math.max(...without.flatMap(({ scaled }) => scaled.map(Math.abs)));
  const words = { rows: say(`query_${kind}`), columns: say(`key_${kind}`) };
  return ["without", "with"].map((name) =>
    ["logits", "weights"].map((stage) => {
      const isWeight = stage === "weights";
      const look = { isWeight, largest: isWeight ? 1 : largest, design: HALF, small: isWeight };
      const masks = name === "with" ? { ...hidden, lines: 2 } : { lines: 1 };
      const values = (name === "with" ? withMask : without).map((row) => row[stage]);
      const heading = `${say(`masks_${stage}_${name}_heading`)} · ${explorer.place(explorer.kind)}`;
      const data = map(kind, { ...look, ...masks, values }, { ...words, value: say(`masks_${stage}`) });
      return { name: `masks_${stage}_${name}`, heading, data };
    }),
  );
}

/** The positional encoding of the network, and how alike its rows are. */
export function positions({ say, templates, site }) {
  const { width } = site; // D of the network
  const { positions_matrix: matrix, positions_curves: curves, positions_similarity: pairs } = templates;
  const rows = matrix.spec.layout.yaxis.range[0] - 0.5;
  const values = sinusoids(rows, width);
  const row = (place) => Array.from(values.subarray(place * width, (place + 1) * width));
  const all = upTo(rows).map(row);
  const alike = all.map((one) => all.map((other) => sum(one.map((value, i) => value * other[i]))));
  const withZ = (template, z) => filledIn(template, [{ ...template.spec.data[0], z }]);
  const curve = (part) => ({ ...part, y: all.map((one) => one[Number(/^\d+/.exec(part.name))]) });
  const half = alike[0].findIndex((value) => value < alike[0][0] / 2);
  const [most, one] = alike[0];
  const similarity = say(`positions_similarity_reading${half < 0 ? "_high" : ""}`, {
    one: one.toFixed(1),
    most: most.toFixed(1),
    share: percent(say, one / most),
    half,
    last: rows - 1,
    lowest: Math.min(...alike[0]).toFixed(1),
  });
  const picture = (name, data, heading, words) => ({ name: `positions_${name}`, data, heading, words });
  const waves = filledIn(curves, curves.spec.data.map(curve));
  const encoding = { name: "positions_matrix", label: say("positions_page"), data: withZ(matrix, all) };
  return {
    reading: say("site_positions", { rows, width }),
    rows: [
      [encoding, picture("curves", waves, say("curves_heading"), say("curves_reading"))],
      [picture("similarity", withZ(pairs, alike), say("positions_similarity_heading"), similarity)],
    ],
  };
}
