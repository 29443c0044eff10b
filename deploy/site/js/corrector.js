// `Corrector`: corrects a text by sentences; particles, English layout, known mistakes.
// Ports of model/correction/ and model/text/.
import { readOff, visible } from "./network.js";
import { afterSecondReading, agreeing, changesOf, findStretches } from "./proposing.js";
import { isSupported, made, offeredInDialect, probable } from "./proposing.js";
import { articleOf, isBounded, rowsAt, spoils } from "./norm.js";
import { between } from "./numbers.js";
import { hasProse, keptSpans, lostAnchors, partOf, partsBeside, sparesAll } from "./protected.js";
import { verbatimSpans } from "./protected.js";
import { applyChanges, changeAt, clipped, compose, confidence, decompose, findChanges } from "./text.js";
import { growthOf, inOrder } from "./text.js";
import { isAccepted, isRejected } from "./decisions.js";
import { isSyllable, meet, moved, movesSpaces, normalise, restored } from "./text.js";
import { selectChanges, spansOf, splitSentences, withSubstitutes } from "./text.js";

// --- Words typed in the English layout, as model/text/keyboard.py. They are offered, never made.

const LEAST_SYLLABLES = 2;

function findOffers({ text, verbatim }, words, rules) {
  const { numbers, keys } = rules;
  const found = [];
  for (const [start, end] of spansOf(rules.patterns.latin_word, text)) {
    const word = text.slice(start, end);
    if (word === word.toUpperCase() || keys.latin_words.includes(word.toLowerCase())) continue;
    if (!outside([[start, end]], verbatim).length) continue;
    const right = hangulOf(word, rules);
    if (!right || right.length < LEAST_SYLLABLES) continue;
    const least = right.length === 2 ? numbers.LEAST_COUNT_SHORT : numbers.LEAST_COUNT_LONGER;
    if (words.known([right])[0] >= Math.log1p(least))
      found.push({ ...changeAt([start, end], text, right), isOffer: true });
  }
  return inOrder(found);
}

/** The syllables that the keys of `word` write in the two-set layout; null where they write anything else. */
function hangulOf(word, { patterns, keys }) {
  if (![...word].every((letter) => letter in keys.jamo)) return null;
  const strokes = Array.from(word, (letter) => keys.jamo[letter]).join("");
  const joined = (jamo = "") => keys.joined[jamo] ?? jamo;
  const text = strokes.replace(patterns.typed_syllable, (typed, initial, medial, final) =>
    initial ? compose(initial, joined(medial), joined(final), keys) : typed,
  );
  return [...text].every(isSyllable) ? text : null;
}

// --- Particles behind figures, Latin letters and brackets, and placeholders; as model/text/readings.py.

/** How the end of a text is read aloud: its class of codas; "" where that is uncertain. */
function reading(text, rules) {
  const { patterns, numbers, marks, keys } = rules;
  const silent = (said, more) => {
    let end = said.length;
    while (end && (marks.silent + more).includes(said[end - 1])) end -= 1;
    return said.slice(0, end);
  };
  text = text.slice(-2 * numbers.LONGEST_READ);
  const [brackets] = spansOf(patterns.brackets, text);
  if (brackets) {
    const before = silent(text.slice(0, brackets[0]), "]");
    const [said, inside] = [before, text.slice(brackets[0] + 1, brackets[1] - 1)].map((each) =>
      reading(each, rules),
    );
    return isSyllable(before.slice(-1)) || said === inside ? said : "";
  }
  text = silent(text, "]");
  if (isSyllable(text.slice(-1))) return keys.codas[decompose(text.slice(-1), keys)[2]] ?? "closed";
  text = text.slice(-numbers.LONGEST_READ);
  return keys.heard.find((_, i) => spansOf(patterns[`heard_${i}`], text).length) ?? "";
}

function fitting(form, heard, { keys }) {
  return form in keys.forms && heard ? keys.forms[form][["open", "ㄹ", "closed"].indexOf(heard)] : form;
}

export function findParticles(text, spans, rules) {
  let [target, done] = ["", 0];
  for (const [start, end] of outside(spansOf(rules.patterns.particle, text), spans)) {
    const form = text.slice(start, end).trim();
    const base = ["으로", "로"].find((each) => form.startsWith(each)) ?? form;
    const fit = fitting(base, reading(text.slice(0, start), rules), rules);
    target += text.slice(done, start) + fit + form.slice(base.length);
    done = end;
  }
  return findChanges(text, target + text.slice(done));
}

export function findStandIns(text, spans, rules) {
  const found = outside(spansOf(rules.patterns.placeholder, text), spans);
  return found.map((span) => changeAt(span, text, rules.marks.stand_in));
}

/** Those of the `found` spans that overlap none of the others. */
const outside = (found, spans) =>
  found.filter(([start, end]) => !spans.some(([first, last]) => start < last && first < end));

// --- Changes that are made before the network reads a sentence, as in model/correction/proposing.py.

/** {shown, hidden, all}: offers and particles; stand-ins, which are taken back; both, in order. */
function findEdits(part, words, rules) {
  const spans = [...part.verbatim, ...part.kept];
  const apart = (changes, others) => changes.filter((change) => !others.some((other) => meet(change, other)));
  const offers = findOffers(part, words, rules);
  const hidden = apart(findStandIns(part.text, spans, rules), offers);
  const particles = apart(findParticles(part.text, spans, rules), [...offers, ...hidden]);
  const shown = [...offers, ...particles.map((each) => known(each, rules.numbers.PARTICLE_CONFIDENCE))];
  return { shown, hidden, all: inOrder([...shown, ...hidden]) };
}

/** A change by a rule, in place of the network's own text. */
const known = (change, sureness) => ({ ...change, knownConfidence: sureness, insteadOf: change.wrong });

// --- Misspellings of the norm that the network missed, as model/correction/mending.py.

/** Whether each word in the stretch begins with a counted word that covers its part of that. */
function isKnownThere(text, start, end, words) {
  return spansOf(/[가-힣]+/g, text).every(([first, last]) => {
    if (first >= end || last <= start) return true;
    return between(Math.min(last, end), last + 1).some((stop) => words.count(text.slice(first, stop)));
  });
}

/** The longest misspelling first, of the same a certain one. */
const byRank = (one, other) => other[0].length - one[0].length || Number(!one[3]) - Number(!other[3]);

/** {changes, least}: what mends each misspelling, and the least probability that it needs. */
export function findKnownMistakes(text, words, rules) {
  const { LONG, LEAST_OF_LONG, LEAST_OF_KNOWN } = rules.numbers;
  const found = [];
  let done = 0;
  for (let start = 0; start < text.length - 1; start += 1) {
    for (const [wrong, right, boundary, isCertain] of rowsAt(text, start, rules).sort(byRank)) {
      const [before, behind] = [text.slice(0, start) + right, text.slice(start + wrong.length)];
      const stop = start + right.length;
      if (start < done || !isBounded(before + behind, start, stop, boundary, rules)) continue;
      const isWord = Math.max(wrong.length, right.length) >= LONG || ["noun", "both"].includes(boundary);
      if (!isCertain && (!isWord || isKnownThere(text, start, start + wrong.length, words))) continue;
      done = start + wrong.length;
      const isLong = wrong.length >= LONG && isKnownThere(before + behind, start, stop, words);
      found.push({
        changes: findChanges(text, before + fitted(behind, text.slice(0, done), before, rules)),
        least: isCertain ? 0 : isLong ? LEAST_OF_LONG : LEAST_OF_KNOWN,
      });
    }
  }
  return found;
}

/** The text behind a mended word, with the particle that fits the word if it fitted the misspelt one. */
function fitted(behind, wrong, right, rules) {
  const [particle] = spansOf(rules.patterns.particle_behind, behind);
  const form = particle?.[0] === 0 ? behind.slice(0, particle[1]) : "";
  if (!form || fitting(form, reading(wrong, rules), rules) !== form) return behind;
  return fitting(form, reading(right, rules), rules) + behind.slice(form.length);
}

/** Whether the changes that are made mend a mistake, or, unless it is certain, mend something there. */
function isSettled({ changes, least }, others) {
  const isTouched = () => changes.some((change) => others.some((other) => meet(change, other)));
  const isMade = (change) => others.some((other) => includes(other, change));
  return changes.every(isMade) || (least > 0 && isTouched());
}

/** Whether `change` makes `part`, and else no more than spaces beside its letters: 안되요, 안 돼요. */
function includes(change, part) {
  const [start, stop] = [part.sourceStart - change.sourceStart, part.sourceEnd - change.sourceStart];
  if (start < 0 || change.sourceEnd < part.sourceEnd) return false;
  const alone = change.wrong.slice(0, start) + part.right + change.wrong.slice(stop);
  const letters = (text) => (movesSpaces(part) ? text : text.replaceAll(" ", ""));
  return letters(alone) === letters(change.right);
}

/** The sentence with all edits made, as the network is to read it. */
function asIfRight(part, edits, rules) {
  if (!edits.length) return part;
  const drift = (place) => growthOf(edits.filter(({ sourceEnd }) => sourceEnd <= place));
  const shifted = (spans) => spans.map(([start, end]) => [start + drift(start), end + drift(start)]);
  return partOf(applyChanges(part.text, edits), shifted(part.verbatim), shifted(part.kept), rules);
}

/** The changes of a sentence from those of the sentence `asIfRight`, and the shown edits among them. */
function withEdits(changes, { shown, all }) {
  const places = all.map((edit) => ({ sourceStart: edit.targetStart, sourceEnd: edit.targetEnd }));
  const drift = (place) => growthOf(all.filter(({ targetEnd }) => targetEnd <= place));
  const rest = changes.filter((change) => !places.some((edit) => meet(change, edit)));
  return inOrder([...rest.map((change) => moved(change, -drift(change.sourceStart), 0)), ...shown]);
}

// --- From a text to its correction, sentence by sentence; as model/correction/corrector.py.

const MOST_READINGS = 4; // of a sentence
// sentences whose answers are kept with their passes: of a text that grows, only the last one is new
const KEPT = 24;

export class Corrector {
  /** `network` reads ids. `rules`: portable_rules of Python. `limits`: of the network's config. */
  constructor(network, tokenizer, confidence, rules, limits) {
    Object.assign(this, { network, tokenizer, confidence, rules, limits });
    this.kept = new Map();
  }

  /**
   * {source, sentences, substitutes}; each sentence {start, source, proposed, produced}: the pass that wrote
   * it, read off, with its ids.
   */
  async correct(typed) {
    const normal = normalise(typed);
    const { text: source, substitutes } = withSubstitutes(normal) ?? { text: normal };
    const sentences = [];
    if (!substitutes) return { source, sentences, substitutes: {} }; // thousands of rare characters
    const copied = [verbatimSpans, keptSpans].map((find) => find(source, this.rules));
    for (const [start, end] of splitSentences(source, this.limits.max_length, this.rules)) {
      const own = copied.map((spans) => clipped(spans, start, end));
      const part = partOf(source.slice(start, end), ...own, this.rules);
      sentences.push({ start, source: part.text, ...(await this.remembered(part)) });
    }
    return { source, sentences: agreeing(sentences), substitutes };
  }

  /** A correction with a person's decisions about proposals, at any confidence: `isAccepted`, `isRejected`. */
  decided({ source, sentences, substitutes }, accepted = [], rejected = []) {
    let number = 0;
    const isSure = (change) => !change.isOffer && confidence(change) >= this.limits.minimum_confidence;
    const isWanted = (change) => isAccepted(change, accepted) || isSure(change);
    const isMade = (change) => !isRejected(change, rejected) && isWanted(change);
    const found = sentences.map((sentence) => {
      const { start } = sentence;
      const spanOf = ({ sourceStart, sourceEnd }) => [start + sourceStart, start + sourceEnd];
      const proposed = sentence.proposed.map((change) => ({
        ...change,
        number: number++,
        span: spanOf(change),
      }));
      const changes = selectChanges(proposed, isMade);
      return { ...sentence, proposed, changes, text: applyChanges(sentence.source, changes) };
    });
    const all = found.flatMap(({ start, changes }) => changes.map((change) => moved(change, start, 0)));
    return { source, text: applyChanges(source, all), sentences: found, substitutes };
  }

  /** The network's own correction of a text with interventions on its passes, as Network.produce. */
  produce(source, changed) {
    const [space] = this.tokenizer.encodeTarget(" ");
    return this.network.produce(this.tokenizer.encodeSource(source), space, changed);
  }

  /** The pass that reads `source` and writes `target`. */
  pass(source, target) {
    return this.network.read(this.tokenizer.encodeSource(source), this.tokenizer.encodeTarget(target));
  }

  /** A function that gives a change of `source` its probabilities in the pass that writes `target`. */
  async rating(source, target) {
    return probable(await this.pass(source, target), this.tokenizer.encodeTarget(source));
  }

  async remembered(part) {
    const key = JSON.stringify([part.text, part.verbatim, part.kept]);
    const found = this.kept.get(key) ?? (await this.propose(part));
    this.kept.delete(key);
    this.kept.set(key, found);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    return found;
  }

  async propose(part) {
    const isRead = part.text.length <= this.limits.max_length;
    const none = { shown: [], hidden: [], all: [] };
    let edits = isRead ? findEdits(part, this.confidence.words, this.rules) : none;
    let answer = await this.readWith(part, edits);
    for (;;) {
      const missed = isRead ? await this.missed(part, edits, answer.proposed) : [];
      if (!missed.length) return answer;
      const shown = inOrder([...edits.shown, ...missed]);
      edits = { shown, hidden: edits.hidden, all: inOrder([...shown, ...edits.hidden]) };
      answer = await this.readWith(part, edits);
    }
  }

  async readWith(part, edits) {
    const { changes, produced } = await this.mended(asIfRight(part, edits.all, this.rules));
    if (!edits.all.length) return { proposed: changes, produced };
    const proposed = withEdits(changes, edits);
    const isRated = edits.shown.some(({ isOffer }) => !isOffer);
    const rated = isRated ? await this.withParticlesRated(part.text, proposed) : proposed;
    return { proposed: rated, produced: null };
  }

  /** The changes of known mistakes that the network did not mend but finds possible to mend. */
  async missed(part, edits, proposed) {
    const { text } = part;
    const weighed = proposed.filter(({ isOffer }) => !isOffer);
    const others = made(weighed, this.limits.minimum_confidence);
    const found = [];
    for (const mistake of findKnownMistakes(text, this.confidence.words, this.rules)) {
      const isApart = (change) => !edits.all.some((edit) => meet(change, edit));
      const isFree = mistake.changes.every((change) => this.accepts(part, change) && isApart(change));
      if (!isFree || isSettled(mistake, others)) continue;
      const rated = mistake.changes.map(await this.rating(text, applyChanges(text, mistake.changes)));
      if (rated.reduce((product, { fix }) => product * fix, 1) < mistake.least) continue;
      const { KNOWN_CONFIDENCE } = this.rules.numbers;
      const sure = rated.map((change) => ({ ...known(change, KNOWN_CONFIDENCE), fromList: true }));
      found.push(...sure.map((change) => offeredInDialect(change, text, this.rules)));
    }
    return found;
  }

  /** The changes; those of particles get their probabilities in a pass with all changes but offers. */
  async withParticlesRated(source, changes) {
    const weighed = selectChanges(changes, ({ isOffer }) => !isOffer);
    const rate = await this.rating(source, applyChanges(source, weighed));
    const rated = weighed.map((change) => (change.fix === undefined ? rate(change) : change));
    return inOrder([...rated, ...changes.filter(({ isOffer }) => isOffer)]);
  }

  /** The network's changes, and the pass that confirmed them, after all its readings. */
  async mended(part) {
    const minimum = this.limits.minimum_confidence;
    let { changes, produced } = await this.oneReading(part);
    if (!made(changes, minimum).length) return { changes, produced };
    for (let reading = 1; reading < MOST_READINGS; reading += 1) {
      const text = applyChanges(part.text, made(changes, minimum));
      const copied = [verbatimSpans, keptSpans].map((find) => find(text, this.rules));
      const again = await this.oneReading(partOf(text, ...copied, this.rules));
      if (!made(again.changes, minimum).length) return { changes, produced };
      [changes, produced] = [afterSecondReading(part.text, changes, again.changes, minimum), null];
    }
    return { changes: [], produced: null }; // each reading had another answer: better left as it was typed
  }

  async oneReading(sentence) {
    const isRead = hasProse(sentence) && sentence.text.length <= this.limits.max_length;
    const found = [];
    for (const answer of isRead ? await this.read(sentence) : [])
      found.push({ part: answer.part, ...(await this.weigh(answer)) });
    const all = found.flatMap(({ part, changes }) => changes.map((change) => moved(change, part.start, 0)));
    const isWhole = found.length === 1 && found[0].part.text === sentence.text;
    const { produced } = isWhole ? found[0] : {};
    const pass = produced ? { ids: produced.ids, ...readOff(produced, this.tokenizer) } : null;
    return { changes: inOrder(all), produced: pass };
  }

  /** The network's text for a sentence: whole, or in the parts beside the anchors that it lost. */
  async read(part) {
    const produced = await this.produce(part.text);
    const target = produced && this.tokenizer.decode(produced.ids, part.text);
    const lost = produced ? lostAnchors(part, target, this.rules) : part.anchors;
    if (!lost.length) return produced ? [{ part, target, produced }] : [];
    const answers = [];
    for (const each of partsBeside(part, lost, this.rules)) answers.push(...(await this.read(each)));
    return answers.sort((one, other) => one.part.start - other.part.start);
  }

  /** The proposed changes of an answer with their probabilities, and the pass that these come from. */
  async weigh({ part, target, produced }) {
    const source = part.text;
    const accepts = (change) => this.accepts(part, change);
    const isWhole = target.length + 1 === produced.ids.length;
    const find = () => findStretches(source, target, produced, this.tokenizer, accepts, this.rules);
    const around = ({ start, end }) => [source.slice(0, start), source.slice(end), this.rules];
    const norm = {
      hasArticle: (stretch, right) => articleOf(stretch.kept, right, ...around(stretch)),
      spoils: (stretch, right) => spoils(stretch.kept, right, ...around(stretch)),
    };
    const weighed = this.confidence.choose(source, isWhole ? find() : [], norm, this.rules.numbers);
    const chosen = changesOf(source, weighed, accepts, this.rules);
    const text = applyChanges(source, chosen);
    if (chosen.length && text !== target) produced = await this.pass(source, text);
    const rate = probable(produced, this.tokenizer.encodeTarget(source));
    const supported = (change) => isSupported(change, source, this.rules.numbers);
    return { changes: selectChanges(chosen.map(rate), supported), produced };
  }

  /** Whether a change may be proposed. */
  accepts(part, change) {
    const { words } = this.confidence;
    const isSpared = sparesAll(change, part, this.rules) && words.sparesNouns(change, part.text);
    return isSpared && this.canJudge(change, part.text);
  }

  /** Not where a change only moves spaces beside a character outside the vocabulary. */
  canJudge(change, source) {
    if (!movesSpaces(change)) return true;
    const around = source.slice(Math.max(change.sourceStart - 1, 0), change.sourceEnd + 1);
    return ![...around].some((character) => this.tokenizer.isOutside(character));
  }

  /** The attention of the pass that writes `target`: of `produced` where that pass wrote it. */
  async trace(source, target, produced, substitutes = {}) {
    const isItsOwn = String(produced?.ids) === String(this.tokenizer.encodeTarget(target));
    const { ids: _, ...seen } = isItsOwn
      ? produced
      : readOff(await this.pass(source, target), this.tokenizer);
    const tokens = (text) => visible(text).map((token) => restored(token, substitutes));
    const [sourceTokens, targetTokens] = [tokens(source), tokens(target)];
    return {
      sourceTokens: [...sourceTokens, "</s>"],
      targetTokens: [...targetTokens, "</s>"],
      decoderInputTokens: ["<s>", ...targetTokens],
      ...seen,
    };
  }
}
