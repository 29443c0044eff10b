// How usual a run of up to five characters is, as model/correction/ngrams.py; the counts stay a tree, as they are stored.

export const ORDER = 5;
const EDGE = "\n"; // stands before and behind every sentence
const SHORT = 2; // characters up to which a run counts by what precedes it
const LEVELS = 8; // of a count between a power of two and the next
const APART = 32; // runs between two of which it is kept where they begin; to keep it of all would take half as much memory again

export class NGrams {
  /** `table`: of countedRuns. */
  constructor(table) {
    this.numbers = new Map(Array.from(table.characters, (code, number) => [String.fromCodePoint(code), number]));
    this.last = [];
    this.levels = [];
    this.children = []; // where the runs that continue each run begin and end
    for (let length = 1; length <= ORDER; length += 1) {
      this.last.push(table[`last_${length}`]);
      this.levels.push(table[`levels_${length}`]);
      if (length > 1) this.children.push(new Children(table[`following_${length}`], table[`starts_${length}`]));
    }
    let all = 0.5 * (this.numbers.size + 1);
    for (const level of this.levels[0]) all += 2 ** (level / LEVELS);
    [this.all, this.unseen] = [all, 0.5 / all];
  }

  /** How usual the characters from start to stop are after those before them: the logarithm of their probability. */
  score(text, start, stop) {
    const before = Math.max(0, ORDER - 1 - start);
    const run = EDGE.repeat(before) + text.slice(Math.max(0, start - ORDER + 1), stop) + EDGE.repeat(Math.max(0, stop - text.length));
    const numbers = Array.from(run, (character) => this.numbers.get(character) ?? -1);
    let sum = 0;
    for (let i = 0; i < stop - start; i += 1) sum += Math.log(this.probability(numbers.slice(i, i + ORDER)));
    return sum;
  }

  /** Of the last of ORDER characters after those before it. */
  probability(window) {
    let probability = this.unseen;
    for (let length = 1; length <= ORDER; length += 1) {
      const run = window.slice(ORDER - length);
      const history = length > 1 ? this.find(run.slice(0, -1)) : -1;
      if (length > 1 && history < 0) continue; // neither the run nor a rest of it is known
      const total = length > 1 ? this.total(length, history) : { all: this.all, rest: 1 };
      if (length > 1) probability *= total.rest;
      const place = length > 1 ? this.child(length, history, run.at(-1)) : this.find(run);
      if (place >= 0) probability += this.count(length, place) / total.all;
    }
    return probability;
  }

  count(length, place) {
    return 2 ** (this.levels[length - 1][place] / LEVELS);
  }

  /** Of all that follows a run: how often that is, and the share that is left for shorter runs. */
  total(length, history) {
    const [start, end] = this.children[length - 2].of(history);
    let seen = 0;
    for (let place = start; place < end; place += 1) seen += this.count(length, place);
    let rest = end - start;
    if (length > SHORT + 1) rest += Math.max(this.count(length - 1, history) - seen, 0); // each that was left out stood there, too
    const all = Math.max(seen + rest, 1);
    return { all, rest: seen > 0 ? rest / all : 1 };
  }

  /** The place of a run among those of its length; -1 where it is not known. */
  find(run) {
    let place = this.search(this.last[0], 0, this.last[0].length, run[0]);
    for (let i = 1; i < run.length && place >= 0; i += 1) place = this.child(i + 1, place, run[i]);
    return place;
  }

  child(length, history, number) {
    const [start, end] = this.children[length - 2].of(history);
    return this.search(this.last[length - 1], start, end, number);
  }

  search(sorted, start, end, number) {
    const stop = end;
    while (start < end) {
      const middle = (start + end) >> 1;
      if (sorted[middle] < number) start = middle + 1;
      else end = middle;
    }
    return start < stop && sorted[start] === number ? start : -1;
  }
}

/** The arrays of ngrams.npz by their names, and of every APART-th run where those begin that continue it. */
export function countedRuns(table) {
  const starts = {};
  for (let length = 2; length <= ORDER; length += 1) starts[`starts_${length}`] = startsOf(table[`following_${length}`]);
  return { ...table, ...starts };
}

function startsOf(counts) {
  const starts = new Uint32Array(Math.ceil(counts.length / APART));
  let sum = 0;
  for (let i = 0; i < counts.length; i += 1) {
    if (i % APART === 0) starts[i / APART] = sum;
    sum += counts[i];
  }
  return starts;
}

/** Where the runs begin and end that continue each run; `counts`: how many these are. */
class Children {
  constructor(counts, starts) {
    Object.assign(this, { counts, starts });
  }

  of(run) {
    const known = Math.floor(run / APART);
    let start = this.starts[known];
    for (let i = known * APART; i < run; i += 1) start += this.counts[i];
    return [start, start + this.counts[run]];
  }
}
