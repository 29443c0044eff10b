// Characters as Python sees them: what is white space, what is Hangul, and one unit of a string for each.

const SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"; // str.isspace
const SPACE = new RegExp(`[${SPACES}]`);
export const GAPS = new RegExp(`[${SPACES}]+`, "g");
export const WORDS = new RegExp(`[^${SPACES}]+`, "g");
const START = new RegExp(`^[${SPACES}]+`);
const END = new RegExp(`[${SPACES}]+$`);

export const isSpace = (character) => SPACE.test(character);
export const isLetterOrNumber = (character) => /[\p{L}\p{N}]/u.test(character);
export const isSyllable = (character) => character >= "가" && character <= "힣" && character.length === 1;
export const isHangul = (character) => isSyllable(character) || (character >= "ㄱ" && character <= "ㅣ" && character.length === 1);
export const stripStart = (text) => text.replace(START, "");
export const stripEnd = (text) => text.replace(END, "");
export const strip = (text) => stripEnd(stripStart(text));
export const isBlank = (text) => strip(text) === "";
export const codePoints = (text) => [...text];

/**
 * [[start, end], ...] of what matches a pattern with the flag g and without named groups. `matchAll` would copy the pattern; a browser may
 * compile a copy anew, and for the long ones of rules.py that takes longer than to correct a sentence.
 */
export function spansOf(pattern, text) {
  const found = [];
  text.replace(pattern, (match, ...groupsAndPlace) => found.push([groupsAndPlace.at(-2), groupsAndPlace.at(-2) + match.length]));
  return found;
}

// Hanja with two Korean readings have a second code point, which NFC would exchange for the first.
const COMPATIBILITY_IDEOGRAPHS = /([\uf900-\ufad9\u{2f800}-\u{2fa1d}]+)/u;

/** NFC, as tokenizer.normalise. */
export function normalise(text) {
  const pieces = text.split(COMPATIBILITY_IDEOGRAPHS);
  return pieces.map((piece, i) => (i % 2 ? piece : piece.normalize("NFC"))).join("");
}

// Rare hanja and private characters are substitutes of letters and signs of two units. To all rules they are what those are.
const SUBSTITUTES = { letter: [0x3400, 0x4dbf], sign: [0xe000, 0xf8ff] };

/**
 * A text in which each character is one unit, and what stands in for which. Python counts code points and JavaScript UTF-16 units,
 * so an emoji would shift all places behind it. Null for a text with more such characters than there are substitutes: thousands.
 */
export function withSubstitutes(text) {
  const substitutes = {};
  if (!/[\u{10000}-\u{10ffff}]/u.test(text)) return { text, substitutes };
  const own = new Map();
  const free = (kind) => {
    for (let code = SUBSTITUTES[kind][0]; code <= SUBSTITUTES[kind][1]; code += 1) {
      const character = String.fromCharCode(code);
      if (!(character in substitutes) && !text.includes(character)) return character;
    }
    return null;
  };
  const written = Array.from(text, (character) => {
    if (character.length === 1) return character;
    if (!own.has(character)) {
      own.set(character, free(isLetterOrNumber(character) ? "letter" : "sign"));
      if (own.get(character)) substitutes[own.get(character)] = character;
    }
    return own.get(character);
  });
  return written.includes(null) ? null : { text: written.join(""), substitutes };
}

/** A text with its own characters in place of their substitutes. */
export function restored(text, substitutes) {
  return Array.from(text, (character) => substitutes[character] ?? character).join("");
}
