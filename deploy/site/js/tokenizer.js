// Ids of characters, as model/text/tokenizer.py.
import { isSyllable } from "./characters.js";
import { opcodes } from "./levenshtein.js";

export const [PAD_ID, OUTSIDE_ID, START_ID, END_ID] = [0, 1, 2, 3];
export const SPECIAL = ["<pad>", "<outside>", "<s>", "</s>"];
const HOLE = "\ufffc"; // "something stands here"
export const FIRST_SYLLABLE = 0xac00;

export class Tokenizer {
  constructor(characters) {
    this.tokens = [...SPECIAL, ...characters];
    this.ids = new Map(this.tokens.map((token, id) => [token, id]).slice(SPECIAL.length));
  }

  get size() {
    return this.tokens.length;
  }

  sourceId(character) {
    const known = this.ids.get(character);
    if (known !== undefined) return known;
    return isSyllable(character) ? this.size + character.charCodeAt(0) - FIRST_SYLLABLE : OUTSIDE_ID;
  }

  isOutside(character) {
    return this.sourceId(character) === OUTSIDE_ID;
  }

  encodeSource(text) {
    return [...Array.from(text, (character) => this.sourceId(character)), END_ID];
  }

  encodeTarget(text) {
    return [...Array.from(text, (character) => this.ids.get(character) ?? OUTSIDE_ID), END_ID];
  }

  /** Text of produced ids, up to the end mark; `<outside>` becomes the character of the source at its place. */
  decode(ids, source) {
    const end = ids.indexOf(END_ID);
    const produced = (end < 0 ? ids : ids.slice(0, end)).filter((id) => id === OUTSIDE_ID || id >= SPECIAL.length);
    const text = produced.map((id) => (id === OUTSIDE_ID ? HOLE : this.tokens[id])).join("");
    return text.includes(HOLE) ? this.fillHoles(text, source) : text;
  }

  fillHoles(text, source) {
    const holes = Array.from(source, (character) => (this.ids.has(character) ? character : HOLE)).join("");
    const filled = Array.from(text, (character) => (character === HOLE ? "" : character));
    const places = (said, start, end) => Array.from({ length: end - start }, (_, i) => start + i).filter((i) => said[i] === HOLE);
    for (const { start, end, first, last } of opcodes(holes, text)) {
      const outside = places(holes, start, end);
      places(text, first, last).slice(0, outside.length).forEach((place, i) => (filled[place] = source[outside[i]]));
    }
    return filled.join("");
  }

  /** Ids that the network can produce, as labels. */
  labels(ids) {
    return ids.map((id) => (this.tokens[id] === " " ? "␣" : this.tokens[id]));
  }
}

/** The characters of a text as labels: a space becomes a visible mark. */
export const visible = (text) => Array.from(text, (character) => (character === " " ? "␣" : character));
