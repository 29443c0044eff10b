// Chooses among the candidates for a stretch of text, and says how sure the choice is, as model/correction/confidence.py.
// The second trees, which ask a morphological analyser, are left out: that takes 80 MB.
import { findChanges } from "./changes.js";
import { isBlank } from "./characters.js";
import { distance } from "./levenshtein.js";
import { ORDER } from "./ngrams.js";
import { touching } from "./words.js";

const LEAST_LOG = Math.log(1e-5); // what is less probable counts as this
const ALONE = 20; // stands for how much more usual a phrase is than the next candidate's, where there is no other candidate

/** Small trees whose leaves add up to log odds. A tree is a leaf or [feature, threshold, branch below it, branch from it on]. */
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

export class Confidence {
  constructor(words, ngrams, trees) {
    Object.assign(this, { words, ngrams, trees });
  }

  /** [{stretch, text, confidence}]: the likeliest candidate of each stretch; of what the network left alone, only likely ones. */
  choose(source, stretches) {
    const best = new Map();
    for (const { number, text, features } of this.rated(source, stretches)) {
      const logOdds = this.trees.logOdds(features);
      if (!best.has(number) || logOdds > best.get(number).logOdds) best.set(number, { logOdds, text });
    }
    const chosen = [...best].map(([number, { logOdds, text }]) => {
      const confidence = 1 / (1 + Math.exp(-Math.min(Math.max(logOdds, -50), 50)));
      return { stretch: stretches[number], text, confidence, logOdds };
    });
    return chosen.filter(({ logOdds, stretch }) => logOdds > 0 || stretch.isChanged);
  }

  /** The features of all candidates of one sentence that would change it. */
  rated(source, stretches) {
    const logs = stretches.map(({ candidates }) => new Map([...candidates].map(([text, log]) => [text, Math.max(log, LEAST_LOG)])));
    const certain = stretches.map(({ written }, number) => logs[number].get(written));
    const sum = certain.reduce((all, one) => all + one, 0);
    const changed = stretches.filter(({ isChanged }) => isChanged).length;
    return stretches.flatMap((stretch, number) => {
      const [mine, { kept }] = [logs[number], stretch];
      const texts = [...mine.keys()];
      const phrases = new Map(texts.map((text) => [text, this.phrase(source, stretches, number, text)]));
      const wrong = this.words.known(touching(source, stretch.start, stretch.end));
      const keep = mine.get(kept);
      return texts.filter((text) => text !== kept).map((text) => {
        const others = texts.filter((each) => each !== text && each !== kept);
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
          sentence: sum - certain[number],
          candidates: texts.length,
          written: Number(text === stretch.written),
          phrase_kept: usual - phrases.get(kept).usual,
          phrase_other: others.length ? usual - Math.max(...others.map((each) => phrases.get(each).usual)) : ALONE,
          phrase: usual / Math.max(size, 1),
        };
        return { number, text, features };
      });
    });
  }

  /** The sentence with `text` in one stretch and what the network wrote in the others, and how usual the phrase is. */
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
