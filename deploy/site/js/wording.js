// How numbers and places are said, as ui/wording/numbers_text.py.
import { visibleToken } from "./labels.js";

const MOST_ODDS = 15; // sizes that a probability of 32 bits can still tell
const LONGEST_SIDE = 12; // characters of what was wrong, and of what is right

/** Never written as certain or impossible. After >0.999 and <0.001 its log odds follow in brackets. */
export function probability(value, digits = 2) {
  if (value >= 0.9995) return `>0.999 (${oddsText(value)})`;
  if (value < 0.0005) return `<0.001 (${oddsText(value)})`;
  return value.toFixed(value >= 0.01 && value < 0.99 ? digits : 3);
}

function oddsText(probability) {
  const tiny = Math.exp(-2 * MOST_ODDS);
  const odds = Math.log(Math.max(probability, tiny) / Math.max(1 - probability, tiny));
  if (Math.abs(odds) > MOST_ODDS) return odds > 0 ? `>+${MOST_ODDS}` : `<−${MOST_ODDS}`;
  return `${odds < 0 ? "−" : "+"}${Math.abs(odds).toFixed(1)}`;
}

export function percent(say, share) {
  const plain = (value) => `${(value * 100).toFixed(0)}%`;
  if (share > 0 && share <= 0.005) return say("percent_below", { share: plain(0.01) });
  if (share >= 0.995 && share < 1) return say("percent_above", { share: plain(0.99) });
  return plain(share);
}

/** A change as plain text, blanks visible. */
export function inWords(say, { wrong, right }) {
  const happened = wrong && right ? "replaced" : right ? "inserted" : "deleted";
  const [one, other] = [wrong, right].map((side) => visibleToken(side, { TICK_LENGTH: LONGEST_SIDE }));
  return say(`edits_${happened}`, { wrong: one, right: other });
}

/** A figure whose {words} are filled in. */
export function withWords(part, words) {
  if (typeof part === "string") return part.replace(/\{(\w+)\}/g, (whole, name) => words[name] ?? whole);
  if (Array.isArray(part)) return part.map((each) => withWords(each, words));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, withWords(each, words)]));
}
