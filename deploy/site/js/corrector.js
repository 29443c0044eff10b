// From a text to its correction, as model/correction/corrector.py: sentence by sentence, each with the pass that wrote it.
import { agreeing } from "./agreeing.js";
import { lostAnchors, hasProse, partOf, partsBeside } from "./anchors.js";
import { findStretches } from "./candidates.js";
import { applyChanges, confidence, inOrder, moved, movesSpaces, selectChanges } from "./changes.js";
import { normalise, restored, withSubstitutes } from "./characters.js";
import { readOff } from "./drafting.js";
import { asIfRight, findOffers, withOffers } from "./offers.js";
import { afterSecondReading, changesOf, isSupported, made, probable } from "./proposing.js";
import { sparesEmphasis, sparesGaps, sparesOutcries, sparesProtected, sparesVerbatim, sparesWords, verbatimSpans } from "./refusals.js";
import { clipped, splitSentences } from "./sentences.js";
import { visible } from "./tokenizer.js";

const MOST_READINGS = 4; // of a sentence
const KEPT = 24; // sentences whose answers are kept with their passes: of a text that grows, only the last one is new

export class Corrector {
  /** `network`: reads ids. `confidence`: a Confidence. `rules`: what Python writes down of its rules. `limits`: of the network's config. */
  constructor(network, tokenizer, confidence, rules, limits) {
    Object.assign(this, { network, tokenizer, confidence, rules, limits });
    this.kept = new Map();
  }

  /** {source, sentences, substitutes}; each sentence {start, source, proposed, produced}: what was read off the pass that wrote it, with its ids. */
  async correct(typed) {
    const normal = normalise(typed);
    const { text: source, substitutes } = withSubstitutes(normal) ?? { text: normal };
    const sentences = [];
    if (!substitutes) return { source, sentences, substitutes: {} }; // no text that anybody writes
    const verbatim = verbatimSpans(source, this.rules);
    for (const [start, end] of splitSentences(source, this.limits.max_length, this.rules)) {
      const part = partOf(source.slice(start, end), clipped(verbatim, start, end), this.rules);
      sentences.push({ start, source: part.text, ...(await this.remembered(part)) });
    }
    return { source, sentences: agreeing(sentences), substitutes };
  }

  /** What becomes of a correction when a person decides about some proposals, by their numbers from 0, whatever their confidence. */
  decided({ source, sentences, substitutes }, accepted = [], rejected = []) {
    let number = 0;
    const isMade = (change) => accepted.includes(change.number) || (!change.isOffer && confidence(change) >= this.limits.minimum_confidence);
    const found = sentences.map((sentence) => {
      const proposed = sentence.proposed.map((change) => ({ ...change, number: number++ }));
      const changes = selectChanges(proposed, (change) => !rejected.includes(change.number) && isMade(change));
      return { ...sentence, proposed, changes, text: applyChanges(sentence.source, changes) };
    });
    const all = found.flatMap(({ start, changes }) => changes.map((change) => moved(change, start, 0)));
    return { source, text: applyChanges(source, all), sentences: found, substitutes };
  }

  async remembered(part) {
    const key = JSON.stringify([part.text, part.verbatim]);
    const found = this.kept.get(key) ?? (await this.propose(part));
    this.kept.delete(key);
    this.kept.set(key, found);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    return found;
  }

  async propose(part) {
    const isRead = part.text.length <= this.limits.max_length;
    const offers = isRead ? findOffers(part, this.confidence.words, this.rules) : [];
    const { changes, produced } = await this.mended(asIfRight(part, offers, this.rules));
    return offers.length ? { proposed: withOffers(changes, offers), produced: null } : { proposed: changes, produced };
  }

  /** What the network would change, and the pass that proved it, after all its readings. */
  async mended(part) {
    const minimum = this.limits.minimum_confidence;
    let { changes, produced } = await this.oneReading(part);
    if (!made(changes, minimum).length) return { changes, produced };
    for (let reading = 1; reading < MOST_READINGS; reading += 1) {
      const text = applyChanges(part.text, made(changes, minimum));
      const again = await this.oneReading(partOf(text, verbatimSpans(text, this.rules), this.rules));
      if (!made(again.changes, minimum).length) return { changes, produced };
      [changes, produced] = [afterSecondReading(part.text, changes, again.changes, minimum), null];
    }
    return { changes: [], produced: null }; // each reading had another answer: better left as it was typed
  }

  async oneReading(sentence) {
    const isRead = hasProse(sentence) && sentence.text.length <= this.limits.max_length;
    const found = [];
    for (const answer of isRead ? await this.read(sentence) : []) found.push({ ...answer, ...(await this.weigh(answer)) });
    const changes = inOrder(found.flatMap(({ part, changes: own }) => own.map((change) => moved(change, part.start, 0))));
    const isWhole = found.length === 1 && found[0].part.text === sentence.text;
    const { produced } = isWhole ? found[0] : {};
    return { changes, produced: produced ? { ids: produced.ids, ...readOff(produced, this.tokenizer) } : null };
  }

  /** What the network wrote for a sentence: whole, or in the parts beside the anchors that it lost. */
  async read(part) {
    const produced = await this.network.produce(this.tokenizer.encodeSource(part.text), this.tokenizer.encodeTarget(" ")[0]);
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
    const isTorn = target.length + 1 !== produced.ids.length;
    const stretches = isTorn ? [] : findStretches(source, target, produced, this.tokenizer, accepts, this.rules);
    const chosen = changesOf(source, this.confidence.choose(source, stretches), accepts);
    const text = applyChanges(source, chosen);
    if (chosen.length && text !== target)
      produced = await this.network.read(this.tokenizer.encodeSource(source), this.tokenizer.encodeTarget(text));
    const rate = probable(produced, this.tokenizer.encodeTarget(source));
    const supported = (change) => isSupported(change, source, this.rules.numbers);
    return { changes: selectChanges(chosen.map(rate), supported), produced };
  }

  /** Whether a change may be proposed. */
  accepts({ text, verbatim }, change) {
    return (
      sparesProtected(change, this.rules) &&
      sparesOutcries(change, text, this.rules) &&
      sparesEmphasis(change, text, this.rules) &&
      sparesGaps(change, text, this.rules) &&
      sparesVerbatim(change, verbatim) &&
      sparesWords(change, text, this.rules) &&
      this.canJudge(change, text)
    );
  }

  /** Not where a change only moves spaces beside a character outside the vocabulary. */
  canJudge(change, source) {
    if (!movesSpaces(change)) return true;
    const around = source.slice(Math.max(change.sourceStart - 1, 0), change.sourceEnd + 1);
    return ![...around].some((character) => this.tokenizer.isOutside(character));
  }

  /** What the network looks at while it turns one sentence into `target`, in the pass `produced` where that wrote it. */
  async trace(source, target, produced, substitutes = {}) {
    const ids = this.tokenizer.encodeTarget(target);
    const same = produced && produced.ids.length === ids.length && produced.ids.every((id, t) => id === ids[t]);
    const { ids: _, ...seen } = same ? produced : readOff(await this.network.read(this.tokenizer.encodeSource(source), ids), this.tokenizer);
    const [sourceTokens, targetTokens] = [source, target].map((text) => visible(text).map((token) => restored(token, substitutes)));
    return {
      sourceTokens: [...sourceTokens, "</s>"],
      targetTokens: [...targetTokens, "</s>"],
      decoderInputTokens: ["<s>", ...targetTokens],
      ...seen,
    };
  }
}

