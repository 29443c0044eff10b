// Labels of tokens, as viz/labels.py. `sizes` are those that deploy/site/figures.py writes down.

const BLANKS = { " ": "␣", "\n": "↵", "\r": "↵", "\t": "⇥" };
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };
const patterns = {}; // source -> expression; the one for wide characters is long
const UNSEEN = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}]$/u;

/** The characters that are seen of a token. */
export function visibleToken(token, { TICK_LENGTH }) {
  const characters = Array.from(token);
  const isJoiner = (character) => character === "\u200d" && characters.length > 1;
  const seen = characters.map((character) => {
    if (isJoiner(character)) return character;
    if (character in BLANKS) return BLANKS[character];
    return UNSEEN.test(character) ? `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}` : character;
  });
  const shown = Array.from((seen.length && /^\p{M}/u.test(seen[0]) ? "◌" : "") + seen.join(""));
  if (shown.length <= TICK_LENGTH) return shown.join("");
  return `${shown.slice(0, TICK_LENGTH - 1).join("").replace(/\u200d+$/, "")}…`;
}

/** The same as Plotly is given it, character by character. */
export function tokenLabel(token, sizes) {
  return visibleToken(token, sizes).replace(/[&<>$]/g, (sign) => ENTITIES[sign]);
}

export function widthInEm(label, { WIDE, NARROW_EM }) {
  const wide = (patterns[WIDE] ??= new RegExp(WIDE, "u"));
  return Array.from(label).reduce((sum, character) => sum + (wide.test(character) ? 1 : NARROW_EM), 0);
}
