// How often each word stands in the training sentences, as model/correction/words.py.

const WORD = /[가-힣]+/g; // a run of whole syllables

/** The words that hold a character of `text[start:end]`, or that begin or end at its edges. */
export function touching(text, start, end) {
  const found = [...text.matchAll(WORD)].filter(({ index, 0: word }) => index <= end && start <= index + word.length);
  return found.map(([word]) => word);
}

export class Words {
  /** `text`: a word and its count a line. */
  constructor(text) {
    this.counts = new Map();
    for (let at = 0; at < text.length; ) {
      const gap = text.indexOf(" ", at);
      const end = text.indexOf("\n", gap);
      this.counts.set(text.slice(at, gap), Number(text.slice(gap + 1, end)));
      at = end + 1;
    }
  }

  /** [whole, beginning, count of the beginning] of the least known word; 0 in every measure where there is none. */
  known(words) {
    if (!words.length) return [0, 0, 0];
    const measures = words.map((word) => this.knownWord(word));
    return [0, 1, 2].map((i) => Math.min(...measures.map((measure) => measure[i])));
  }

  knownWord(word) {
    for (let length = word.length; length; length -= 1) {
      const count = this.counts.get(word.slice(0, length));
      if (count) return [Math.log1p(length === word.length ? count : 0), length / word.length, Math.log1p(count)];
    }
    return [0, 0, 0];
  }
}
