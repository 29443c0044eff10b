// How often each word stands in the training sentences, as model/correction/words.py.

const WORD = /[가-힣]+/g; // a run of whole syllables

/** The words that hold a character of `text[start:end]`, or that begin or end at its edges. */
export function touching(text, start, end) {
  const found = [...text.matchAll(WORD)].filter(({ index, 0: word }) => index <= end && start <= index + word.length);
  return found.map(([word]) => word);
}

/** {text, starts}: `text` has a word and its count a line, sorted; `starts` says where each line begins. */
export function sortedWords(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return { text, starts: Uint32Array.from(starts.slice(0, -1)) };
}

export class Words {
  /** Of sortedWords. They are searched as they are: a Map of so many words takes ten times the memory. */
  constructor({ text, starts }) {
    Object.assign(this, { text, starts });
  }

  /** How often a word stands there; 0 where it does not. */
  count(word) {
    let [first, last] = [0, this.starts.length - 1];
    while (first <= last) {
      const middle = (first + last) >> 1;
      const start = this.starts[middle];
      const gap = this.text.indexOf(" ", start);
      const found = this.text.slice(start, gap);
      if (found === word) return Number(this.text.slice(gap + 1, this.text.indexOf("\n", gap)));
      if (found < word) first = middle + 1;
      else last = middle - 1;
    }
    return 0;
  }

  /** [whole, beginning, count of the beginning] of the least known word; 0 in every measure where there is none. */
  known(words) {
    if (!words.length) return [0, 0, 0];
    const measures = words.map((word) => this.knownWord(word));
    return [0, 1, 2].map((i) => Math.min(...measures.map((measure) => measure[i])));
  }

  knownWord(word) {
    for (let length = word.length; length; length -= 1) {
      const count = this.count(word.slice(0, length));
      if (count) return [Math.log1p(length === word.length ? count : 0), length / word.length, Math.log1p(count)];
    }
    return [0, 0, 0];
  }
}
