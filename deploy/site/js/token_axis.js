// Labels of tokens along an axis, as viz/token_axis.py. `sizes`: see labels.js.
import { upTo } from "./counting.js";
import { tokenLabel, visibleToken, widthInEm } from "./labels.js";

/** The cell for so many columns and rows: square while a square one can hold a label. */
export function cellSize(columns, rows, sizes) {
  const width = Math.min(sizes.LARGEST_CELL, sizes.DESIGN_WIDTH / Math.max(columns, 1));
  const square = width >= sizes.SMALLEST_SQUARE_CELL && rows <= sizes.MOST_LABELLED_ROWS;
  let height = square ? width : sizes.SMALLEST_SQUARE_CELL;
  if (rows > sizes.MOST_LABELLED_ROWS) height = sizes.HEIGHT_OF_MANY_ROWS / rows;
  const font = Math.round(Math.min(sizes.LARGEST_FONT, Math.max(sizes.SMALLEST_FONT, 0.72 * height)));
  return { width, height, square, font };
}

/** The labels of columns: upright if they fit, on several steps if they are crowded, turned if they are long. */
export function columnTicks(tokens, { font, width }, sizes) {
  let labels = tokens.map((token) => tokenLabel(token, sizes));
  let positions = upTo(tokens.length);
  const widths = tokens.map((token) => widthInEm(visibleToken(token, sizes), sizes)).sort((one, other) => other - one);
  if (widths.length > 2 && widths[2] > 2.2 && widths[2] * font > width)
    return { positions, labels, steps: 1, angle: -90, height: widths[0] * font };
  let steps = Math.ceil((1.15 * font) / width);
  if (steps > sizes.MOST_STEPS) {
    const every = Math.ceil(steps / sizes.MOST_STEPS);
    [positions, labels] = [positions, labels].map((all) => all.filter((_, i) => i % every === 0));
    steps = sizes.MOST_STEPS;
  }
  return { positions, labels, steps, angle: 0, height: 1.3 * font * steps };
}

/** The rows that get a label: all if they fit, otherwise some at equal distances and those of `always`. */
export function rowTicks(count, { font, height }, always, sizes) {
  const step = Math.ceil((1.2 * font) / height);
  if (step === 1 || height >= sizes.SMALLEST_SQUARE_CELL) return upTo(count);
  const spaced = upTo(count).filter((row) => row % step === 0 && [...always].every((kept) => Math.abs(row - kept) >= step));
  return [...new Set([...spaced, ...always])].sort((one, other) => one - other);
}

/** Labels below the columns; those of `bold` stand out. */
export function ticksBelow({ positions, labels, angle, steps }, bold = []) {
  return labels.map((label, i) => " <br>".repeat(angle ? 0 : i % steps) + (bold.includes(positions[i]) ? `<b>${label}</b>` : label));
}

/** Labels above the columns: a line break behind one lifts it. */
export function ticksAbove({ labels, angle, steps }) {
  return labels.map((label, i) => label + "<br> ".repeat(angle ? 0 : i % steps));
}
