// Type size of the page, width of text in ems, and probabilities and log odds as text.

/** How much larger the page's type is than usual, as for the back row of a lecture. */
function enlargement() {
  return Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_TYPE);
}

// Characters of East Asian width W or F (Unicode Standard Annex 11), emoji, and \u2581, the word mark of many
// tokenizers, which the page's font draws as wide.
const WIDE = new RegExp(
  [
    String.raw`[\u1100-\u115f\u2329\u232a\u2581\u2e80-\u303e\u3041-\ua4c6\ua960-\ua97c\uac00-\ud7a3]`,
    String.raw`[\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}]`,
    String.raw`[\u{1b000}-\u{1b2fb}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]`,
  ].join("|"),
  "u",
);

/** Rough width of a text in ems, as width_in_em of viz/labels.py. */
export function ems(text) {
  return [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 1 : NARROW_EM), 0);
}

/** Never written as certain or impossible: after >0.999 and <0.001 its log odds follow in brackets. */
export function probabilityText(value) {
  if (value >= CERTAIN[0]) return `${CERTAIN[1]} (${logOdds(value)})`;
  if (value < IMPOSSIBLE[0]) return `${IMPOSSIBLE[1]} (${logOdds(value)})`;
  return value.toFixed(3);
}

/** A confidence as readers of a card want it, without log odds. */
export function confidenceText(value) {
  return probabilityText(value).split(" ")[0];
}

/** ln(p / (1 - p)), as labels.py writes it. */
export function logOdds(probability) {
  const tiny = Math.exp(-2 * MOST_ODDS);
  const odds = Math.log(Math.max(probability, tiny) / Math.max(1 - probability, tiny));
  if (Math.abs(odds) > MOST_ODDS) return odds > 0 ? `>+${MOST_ODDS}` : `<−${MOST_ODDS}`;
  return `${odds < 0 ? "−" : "+"}${Math.abs(odds).toFixed(Math.abs(odds) < SHARP_ODDS ? 1 : 0)}`;
}
