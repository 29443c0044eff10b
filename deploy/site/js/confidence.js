// `Confidence` of a candidate by boosted trees, word counts, n-grams.
// Ports of model/correction/.
import { between, sum, upTo } from "./numbers.js";
import { distance, findChanges, isBlank, spansOf } from "./text.js";

// --- How often each word stands in the training sentences, as model/correction/counts.py.

const WORD = /[가-힣]+/g; // a run of whole syllables

/** The words that hold a character of `text[start:end]`, or that begin or end at its edges. */
export function touching(text, start, end) {
  const found = spansOf(WORD, text).filter(([first, last]) => first <= end && start <= last);
  return found.map((span) => text.slice(...span));
}

/** The first place from `start` on where a test holds that holds at all later ones; `end` where it holds at none. */
function firstWhere(start, end, holds) {
  while (start < end) {
    const middle = (start + end) >> 1;
    if (holds(middle)) end = middle;
    else start = middle + 1;
  }
  return end;
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
    const wordAt = (start) => this.text.slice(start, this.text.indexOf(" ", start));
    const place = firstWhere(0, this.starts.length, (line) => wordAt(this.starts[line]) >= word);
    const start = this.starts[place];
    if (start === undefined || wordAt(start) !== word) return 0;
    return Number(this.text.slice(start + word.length + 1, this.text.indexOf("\n", start)));
  }

  /** [whole, beginning, count of the beginning] of the least known word; zeros where there is none. */
  known(words) {
    if (!words.length) return [0, 0, 0];
    const measures = words.map((word) => this.knownWord(word));
    return [0, 1, 2].map((i) => Math.min(...measures.map((measure) => measure[i])));
  }

  /** Whether 였 → 었, 여 → 어 or 예 → 에 is behind a counted noun's copula, as model/correction/counts.py. */
  sparesNouns({ wrong, right, sourceStart }, source) {
    const isLonger = ["였었", "여어", "예에"].includes(wrong.slice(0, 1) + right.slice(0, 1));
    if (!isLonger || source[sourceStart - 1] !== "이") return true;
    const [noun] = source.slice(0, sourceStart).match(/[가-힣]+$/);
    if (["가", "는", "를"].some((each) => this.count(noun + each))) return false;
    const stems = [...noun].map((_, i) => noun.slice(i, -1)).filter((stem, i) => i === 0 || stem.length > 1);
    return stems.some((stem) => stem && ["은", "을"].some((each) => this.count(stem + each)));
  }

  knownWord(word) {
    for (let length = word.length; length; length -= 1) {
      const count = this.count(word.slice(0, length));
      const whole = length === word.length ? count : 0;
      if (count) return [Math.log1p(whole), length / word.length, Math.log1p(count)];
    }
    return [0, 0, 0];
  }
}

// --- How usual a run of up to five characters is, as model/correction/counts.py; its counts stay a tree.

export const ORDER = 5;
const EDGE = "\n"; // stands before and behind every sentence
const SHORT = 2; // characters up to which a run counts by the characters before it
const LEVELS = 8; // of a count between a power of two and the next
// Runs between two of which it is kept where they begin; of all it would take half as much memory again.
const APART = 32;

export class NGrams {
  /** `table`: of countedRuns. */
  constructor(table) {
    const characters = Array.from(table.characters, (code) => String.fromCodePoint(code));
    this.numbers = new Map(characters.map((character, number) => [character, number]));
    const lengths = between(1, ORDER + 1);
    [this.last, this.levels] = ["last", "levels"].map((name) => lengths.map((n) => table[`${name}_${n}`]));
    const children = (length) => childrenBy(table[`following_${length}`], table[`starts_${length}`]);
    this.children = lengths.slice(1).map(children);
    let all = 0.5 * (this.numbers.size + 1);
    for (const level of this.levels[0]) all += 2 ** (level / LEVELS);
    [this.all, this.unseen] = [all, 0.5 / all];
  }

  /** The logarithm of the probability of text[start:stop] after the characters before it. */
  score(text, start, stop) {
    const before = Math.max(0, ORDER - 1 - start);
    const edges = [before, Math.max(0, stop - text.length)].map((count) => EDGE.repeat(count));
    const run = edges.join(text.slice(Math.max(0, start - ORDER + 1), stop));
    const numbers = Array.from(run, (character) => this.numbers.get(character) ?? -1);
    return sum(upTo(stop - start).map((i) => Math.log(this.probability(numbers.slice(i, i + ORDER)))));
  }

  /** Of the last of ORDER characters after those before it. */
  probability(window) {
    const last = this.find(window.slice(-1));
    let probability = this.unseen + (last < 0 ? 0 : this.count(1, last) / this.all);
    for (let length = 2; length <= ORDER; length += 1) {
      const history = this.find(window.slice(-length, -1));
      if (history < 0) continue; // neither the run nor a rest of it is known
      const { all, rest } = this.total(length, history);
      const place = this.child(length, history, window.at(-1));
      probability = probability * rest + (place < 0 ? 0 : this.count(length, place) / all);
    }
    return probability;
  }

  count(length, place) {
    return 2 ** (this.levels[length - 1][place] / LEVELS);
  }

  /** Of all that follows a run: how often that is, and the share that is left for shorter runs. */
  total(length, history) {
    const [start, end] = this.children[length - 2](history);
    let seen = 0;
    for (let place = start; place < end; place += 1) seen += this.count(length, place);
    let rest = end - start;
    // Each that was left out stood there, too.
    if (length > SHORT + 1) rest += Math.max(this.count(length - 1, history) - seen, 0);
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
    return this.search(this.last[length - 1], ...this.children[length - 2](history), number);
  }

  search(sorted, start, end, number) {
    const place = firstWhere(start, end, (middle) => sorted[middle] >= number);
    return place < end && sorted[place] === number ? place : -1;
  }
}

/** The arrays of ngrams.npz by their names, and of every APART-th run where those begin that continue it. */
export function countedRuns(table) {
  const starts = between(2, ORDER + 1).map((n) => [`starts_${n}`, startsOf(table[`following_${n}`])]);
  return { ...table, ...Object.fromEntries(starts) };
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

/** run -> where the runs begin and end that continue it; `counts`: how many these are. */
const childrenBy = (counts, starts) => (run) => {
  const known = Math.floor(run / APART);
  let start = starts[known];
  for (let i = known * APART; i < run; i += 1) start += counts[i];
  return [start, start + counts[run]];
};

// --- The likeliest candidate for a stretch and its confidence, as model/correction/confidence.py. Its second
// trees are left out, since their analyser has 80 MB.

const LEAST_LOG = Math.log(1e-5); // the least logarithm of a probability
// Stands for how much more usual a phrase is than the next candidate's, where there is no other candidate.
const ALONE = 20;

/** Trees whose leaves add up to log odds: a leaf or [feature, threshold, branch below it, branch from it]. */
export class Trees {
  constructor({ start, trees }) {
    Object.assign(this, { start, trees });
  }

  logOdds(features) {
    return this.trees.reduce((sum, tree) => {
      while (Array.isArray(tree)) tree = tree[features[tree[0]] >= tree[1] ? 3 : 2];
      return sum + tree;
    }, this.start);
  }
}

/** Whether what goes in one stretch comes in another of the same word, as is_swap of confidence.py. */
function isSwap(source, [mine, text], [other, instead]) {
  const sorted = (letters) => [...letters].sort().join("");
  const moves = sorted(mine.kept) !== sorted(text) && (mine.kept + text).trim();
  const between = source.slice(Math.min(mine.end, other.end), Math.max(mine.start, other.start));
  const isSame = sorted(mine.kept + other.kept) === sorted(text + instead);
  return moves && !between.includes(" ") && isSame;
}

export class Confidence {
  constructor(words, ngrams, trees) {
    Object.assign(this, { words, ngrams, trees });
  }

  /**
   * [{stretch, text, confidence}]: the likeliest of each stretch; an unchanged one needs a likely one. The
   * log odds are at the rates of people's mistakes, as at_natural_rates of model/correction/confidence.py.
   */
  choose(source, stretches, { hasArticle, spoils }, { DOUBT, FEW, SPACES_COMMONER, LETTERS_RARER }) {
    const best = new Map();
    const rated = this.rated(source, stretches);
    for (const each of rated) each.practised = this.trees.logOdds(each.features);
    const isSlip = ({ practised, features }) =>
      practised >= DOUBT && features.written && features.spaces !== 1;
    const slips = rated.filter(isSlip).map(({ number }) => stretches[number]);
    const isApart = ({ start, end }) =>
      slips.some((slip) => source.slice(Math.min(end, slip.end), Math.max(start, slip.start)).includes(" "));
    for (const { number, text, features, practised } of rated) {
      const isDoubtful = practised > 0 && practised < DOUBT;
      const isDense = features.changes > FEW || isApart(stretches[number]);
      const mayBeRare = isDoubtful && features.spaces !== 1 && !isDense;
      const isRarer = mayBeRare && !hasArticle(stretches[number], text);
      const isCommoner = isDoubtful && features.spaces === 1;
      const shifted = practised + (isCommoner ? SPACES_COMMONER : 0) - (isRarer ? LETTERS_RARER : 0);
      const logOdds = shifted > 0 && spoils(stretches[number], text) ? 0 : shifted;
      if (!best.has(number) || logOdds > best.get(number).logOdds) best.set(number, { logOdds, text });
    }
    for (const [one, mine] of best) {
      for (const [other, its] of best) {
        if (one < other && isSwap(source, [stretches[one], mine.text], [stretches[other], its.text]))
          mine.logOdds = its.logOdds = Math.min(mine.logOdds, its.logOdds);
      }
    }
    const chosen = [...best].map(([number, { logOdds, text }]) => {
      const confidence = 1 / (1 + Math.exp(-Math.min(Math.max(logOdds, -50), 50)));
      return { stretch: stretches[number], text, confidence, logOdds };
    });
    return chosen.filter(({ logOdds, stretch }) => logOdds > 0 || stretch.isChanged);
  }

  /** The features of all candidates of one sentence that would change it. */
  rated(source, stretches) {
    const floored = (candidates) => [...candidates].map(([text, log]) => [text, Math.max(log, LEAST_LOG)]);
    const logs = stretches.map(({ candidates }) => new Map(floored(candidates)));
    const certain = stretches.map(({ written }, number) => logs[number].get(written));
    const changed = stretches.filter(({ isChanged }) => isChanged).length;
    return stretches.flatMap((stretch, number) => {
      const [mine, { kept }] = [logs[number], stretch];
      const texts = [...mine.keys()];
      const phrases = new Map(texts.map((text) => [text, this.phrase(source, stretches, number, text)]));
      const wrong = this.words.known(touching(source, stretch.start, stretch.end));
      const usualness = (each) => phrases.get(each).usual;
      const keep = mine.get(kept);
      const changing = texts.filter((text) => text !== kept);
      return changing.map((text) => {
        const others = changing.filter((each) => each !== text);
        const { whole, start, usual, size } = phrases.get(text);
        const right = this.words.known(touching(whole, start, start + text.length));
        const fix = mine.get(text);
        const features = {
          fix,
          keep,
          other: others.length ? Math.max(...others.map((each) => mine.get(each))) : LEAST_LOG,
          network: Math.exp(fix) * (1 - Math.exp(keep)),
          wrong_count: wrong[0],
          wrong_beginning: wrong[1],
          wrong_beginning_count: wrong[2],
          right_count: right[0],
          right_beginning: right[1],
          right_beginning_count: right[2],
          spaces: spacesIn(kept, text),
          length: Math.max(kept.length, text.length),
          jamo: distance(kept.normalize("NFD"), text.normalize("NFD")),
          changes: changed,
          sentence: sum(certain) - certain[number],
          candidates: texts.length,
          written: Number(text === stretch.written),
          phrase_kept: usual - phrases.get(kept).usual,
          phrase_other: others.length ? usual - Math.max(...others.map(usualness)) : ALONE,
          phrase: usual / Math.max(size, 1),
        };
        return { number, text, features };
      });
    });
  }

  /** The sentence with `text` in one stretch and the network's in the others; how usual the phrase is. */
  phrase(source, stretches, number, text) {
    let [whole, done, start] = ["", 0, 0];
    stretches.forEach((stretch, i) => {
      whole += source.slice(done, stretch.start);
      if (i === number) start = whole.length;
      whole += i === number ? text : stretch.written;
      done = stretch.end;
    });
    whole += source.slice(done);
    const stop = Math.min(start + text.length + ORDER - 1, whole.length + 1);
    return { whole, start, usual: this.ngrams.score(whole, start, stop), size: stop - start };
  }
}

function spacesIn(kept, text) {
  const changes = findChanges(kept, text);
  const all = (name) => changes.map((change) => change[name]).join("");
  if (isBlank(all("wrong")) && isBlank(all("right"))) return 1;
  return (all("wrong") + all("right")).includes(" ") ? 2 : 0;
}
