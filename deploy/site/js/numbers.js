// Arithmetic on lists: sums, ranks, correlations, sinusoids.
import { upTo } from "../../../viz/browser/dom.js";

export { between, grouped, upTo } from "../../../viz/browser/dom.js";
export const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
export const mean = (numbers) => sum(numbers) / numbers.length;

/** Places of the largest numbers, the largest first; of equal ones the earlier. */
export const largestFirst = (numbers) =>
  upTo(numbers.length).sort((one, other) => numbers[other] - numbers[one] || one - other);

/** Ranks from 0, the smallest first; equal numbers share their mean rank. */
function ranksOf(numbers) {
  return numbers.map((one) => {
    const below = numbers.filter((each) => each < one).length;
    const same = numbers.filter((each) => each === one).length;
    return below + (same - 1) / 2;
  });
}

/** Spearman's rank correlation, as model/analysis/statistics.py; NaN where either does not vary. */
export function rankCorrelation(one, other) {
  const [first, second] = [one, other].map((numbers) =>
    ranksOf(numbers).map((rank) => rank - (numbers.length - 1) / 2),
  );
  const product = (left, right) => sum(left.map((value, i) => value * right[i]));
  return product(first, second) / Math.sqrt(product(first, first) * product(second, second));
}

/** (rows, width): sine in even dimensions, cosine in odd ones (Vaswani et al. 2017, section 3.5). */
export function sinusoids(rows, width) {
  const found = new Float32Array(rows * width);
  for (let i = 0; i < width; i += 1) {
    const rate = 10000 ** ((-2 * Math.floor(i / 2)) / width);
    for (let p = 0; p < rows; p += 1) found[p * width + i] = i % 2 ? Math.cos(p * rate) : Math.sin(p * rate);
  }
  return found;
}
