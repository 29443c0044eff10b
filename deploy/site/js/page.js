// `Site`: the page of the site: text area, correction with its cards, and figures.
import { filled } from "../../../viz/browser/dom.js";
import { confidenceText, probabilityText } from "../../../viz/browser/type.js";
import { decide, isRejected, movedAlong, readPlaces, writtenPlaces } from "./decisions.js";
import { figuresOf, visibleToken, withBlanks } from "./figures.js";
import { confidence, isSpace, restored } from "./text.js";
import { LONGEST_SIDE, moreViews } from "./views.js";

// --- The pieces of the corrected text that correction.js draws, as ui/components/correction.py.

const SURE = { certain: 0.97, sure: 0.85, likely: 0.6, unsure: 0 }; // the least confidence of each
const LEAST_OFFERED = 0.3; // a proposal that the network believes in less than this is not shown

/** `found`: of the worker. `chosen`: the number of the change in focus. */
export function piecesOf(found, chosen, say) {
  const { source, substitutes } = found;
  const write = (text) => restored(text, substitutes);
  const proposals = proposalsOf(found);
  const several = found.sentences.length > 1 ? found.sentences : [];
  const starts = new Map(several.map(({ start }, place) => [start, place]));
  const pieces = [];
  const parts = {};
  let done = 0;
  const plain = (end) => {
    for (const [start, place] of starts)
      if (done <= start && start < end) {
        pieces.push({ text: write(source.slice(done, start)) }, { sentence: place });
        done = start;
      }
    pieces.push({ text: write(source.slice(done, end)) });
    done = end;
  };
  for (const { start, end, inside } of wordsOf(source, proposals)) {
    plain(start);
    if (starts.has(start)) pieces.push({ sentence: starts.get(start) });
    pieces.push(word(source, start, end, inside, write, say));
    const apart = inside.filter((change) => change.made);
    if (apart.length > 1)
      for (const change of apart)
        parts[change.number] = partOf(source.slice(start, end), start, change, write);
    done = end;
  }
  plain(source.length);
  const made = proposals.filter((change) => change.made);
  const card = (change) => ({ ...cardOf(change, write, say), ...parts[change.number] });
  const cards = Object.fromEntries(made.map((change) => [change.number, card(change)]));
  const words = wordsSaid(proposals, found, say);
  return { pieces, text: write(found.text), proposals: cards, chosen, opened: found.place, words };
}

const allProposed = ({ sentences }) => sentences.flatMap(({ proposed }) => proposed);

/** The changes made and the likely proposals; offsets in the whole source. */
function proposalsOf({ sentences }) {
  return sentences.flatMap(({ start, proposed, changes }) => {
    const made = new Set(changes.map(({ number }) => number));
    const placed = ({ sourceStart, sourceEnd }) => ({ start: start + sourceStart, end: start + sourceEnd });
    const all = proposed.map((each) => ({ ...each, ...placed(each), made: made.has(each.number) }));
    return all.filter((change) => change.made || change.isOffer || confidence(change) >= LEAST_OFFERED);
  });
}

/** The words that proposals touch; words that share one are one, but an offer joins no two corrected words. */
function wordsOf(source, proposals) {
  return byWord(source, proposals).flatMap((word) => {
    const made = word.inside.filter((change) => change.made);
    const places = byWord(source, made);
    return places.length > 1 ? places : [word];
  });
}

function byWord(source, proposals) {
  const found = [];
  for (const proposal of proposals) {
    let { start, end } = proposal;
    while (start > 0 && !isSpace(source[start - 1])) start -= 1;
    while (end < source.length && !isSpace(source[end])) end += 1;
    const before = found.at(-1);
    if (before && start < before.end)
      Object.assign(before, { end: Math.max(before.end, end), inside: [...before.inside, proposal] });
    else found.push({ start, end, inside: [proposal] });
  }
  return found;
}

function word(source, start, end, inside, write, say) {
  const made = inside.filter((change) => change.made);
  const written = (changes, old) =>
    side(source, start, end, changes, old).map(([text, differs]) => [write(text), differs]);
  const text = written(inside, false)
    .map(([part]) => part)
    .join("");
  return {
    typed: written(made, true),
    now: written(made, false),
    made: made.map(({ number }) => number),
    kinds: jointKinds(made).map((kind) => kindName(kind, say)),
    offer: offerOf(inside, text, say),
  };
}

/** Which of the changes of `word`, which begins at `begin`, a card is about: as typed, and as written. */
function partOf(word, begin, { start, end, wrong, right }, write) {
  const before = Array.from(word.slice(0, start - begin)).at(-1) ?? "";
  const [after = ""] = word.slice(end - begin);
  const seen = (side) => visibleToken(write(before + side + after), Infinity);
  return { typed: seen(wrong), part: seen(right) };
}

/** The word with all its changes, where some are not made. */
function offerOf(inside, text, say) {
  const offered = inside.filter((change) => !change.made);
  if (!offered.length) return null;
  const [{ number }] = offered;
  const sureness = (change) => (change.isOffer ? 0 : confidence(change));
  const least = offered.reduce((one, other) => (sureness(other) < sureness(one) ? other : one));
  const share = least.isOffer ? say("correction_layout") : confidenceText(sureness(least));
  return { number, text, shown: withBlanks(text), share, accept: least.isOffer ? "accept_layout" : "accept" };
}

/** The proposals that are offered together with one: all of its word. */
function offeredWith(found, number) {
  const isHere = (change) => change.number === number;
  const word = wordsOf(found.source, proposalsOf(found)).find(({ inside }) => inside.some(isHere));
  return word?.inside.filter(({ made }) => !made) ?? [];
}

/**
 * [text, whether it differs] for the parts of the word, before or after these changes. A removed space leaves
 * an empty part that differs.
 */
function side(source, start, end, changes, old) {
  const parts = [];
  let done = start;
  for (const change of [...changes].sort((one, other) => one.start - other.start)) {
    const text = old ? change.wrong : change.right;
    parts.push([source.slice(done, change.start), false]);
    if (text || (change.wrong && [...change.wrong].every(isSpace))) parts.push([text, true]);
    done = change.end;
  }
  return [...parts, [source.slice(done, end), false]].filter(([text, differs]) => text || differs);
}

/** Whether the norm's list decided instead of the network, or what the network would rather have written. */
function noteOf({ fromList, fix, insteadOf }, write, say) {
  if (fromList) return say("correction_from_list", { probability: probabilityText(fix) });
  if (typeof insteadOf !== "string") return "";
  return say("correction_instead_of", { text: visibleToken(write(insteadOf), LONGEST_SIDE) || "∅" });
}

const kindsOf = (change) => (change.isOffer ? ["layout"] : change.reason.kinds);

/** The kinds of all changes of a word, as joint_kinds of model/analysis/kinds.py. */
function jointKinds(changes) {
  const kinds = [...new Set(changes.flatMap(kindsOf))];
  return kinds.sort((one, other) => (one === "spacing") - (other === "spacing"));
}

const kindName = (kind, say) => say(kind === "layout" ? "correction_layout" : `mistake_${kind}`);

/** What a card shows, as _card of ui/sentence/decisions.py. */
function cardOf(change, write, say) {
  const kinds = kindsOf(change).map((kind) => kindName(kind, say));
  if (change.isOffer) return { kinds, why: say("mistake_layout_why") };
  const { article } = change.reason;
  const sureness = confidence(change);
  const level = Object.keys(SURE).find((name) => sureness >= SURE[name]);
  return {
    kinds,
    ...(article ? whyOfArticle(change, say) : { why: whyOf(change, say), article: "" }),
    sure: say("correction_sure", { words: say(`sure_${level}`), confidence: confidenceText(sureness) }),
    note: noteOf(change, write, say),
  };
}

function whyOfArticle({ reason: { kinds, article: names } }, say) {
  const [korean, ko, english, en] = names;
  const [article, told] = document.documentElement.lang === "ko" ? [korean, ko] : [english, en];
  const why = kinds[0] === "word" ? `${say("mistake_word_why")} ${told}` : told;
  return { why, article: told.includes(article) ? "" : article };
}

/** The reason where no article tells it, as Reason.why of model/analysis/kinds.py. */
function whyOf({ wrong, right, reason: { kinds, rules, isSameSound } }, say) {
  if (kinds[0] === "spacing" && right.length < wrong.length) return say("mistake_joined_why");
  if (!rules.length) return say(`mistake_${kinds[0]}_why`);
  const named = rules.map((rule) => say(`rule_${rule}`)).join(", ");
  return say(`mistake_${isSameSound ? "sound" : "alike"}_rules_why`, { rules: named });
}

/** Words by their keys without "correction_"; correction.js fills their places. */
const SAID = "count left previous next close none reject accept accept_layout open".split(" ");

function wordsSaid(proposals, found, say) {
  const [made, left] = [true, false].map((made) => proposals.some((change) => change.made === made));
  const hint = left ? (made ? "correction_hint_both" : "correction_hint_offered") : "correction_hint";
  return {
    ...Object.fromEntries(SAID.map((name) => [name, say(`correction_${name}`)])),
    label: say("corrected_label"),
    hint: proposals.length ? say(hint) : say("site_nothing"),
    all: allProposed(found).some((change) => isRejected(change, found.rejected ?? []))
      ? say("correction_all")
      : "",
    copy: say("copy"),
    copied: say("copied"),
    behind: say("copy_behind"),
    copy_long: say("copy_corrected"),
  };
}

// --- The page: text goes to the worker, its answer is shown. Text and settings are in the address behind #.

export const LONGEST = 20000; // characters that the area takes
const MOST_ANSWERS = 12; // that are kept: each has the attention of a sentence
const MEGABYTE = 1e6;
const [SOON, LATER, PATIENCE] = [20, 2000, 5000]; // milliseconds

/** `content`: of deploy/site/build.py: texts, figures, first, width, examples, stored. */
export class Site {
  constructor(content) {
    Object.assign(this, content);
    this.state = { ...this.usual(), ...this.addressed() };
    this.revision = 1;
    this.received = {}; // bytes that have come of each part that the worker computes with
    this.asked = []; // keys of the questions to the worker, in order
    this.answers = new Map(); // of the last texts, by question
    for (const stored of this.stored) this.answers.set(this.keyOf({ text: stored.typed }), stored);
  }

  usual() {
    const spoken = navigator.languages.flatMap((language) => [language, language.split("-")[0]]);
    const lang =
      // Korean for all who read it.
      ["ko", ...spoken].find((language) => spoken.includes(language) && language in this.texts) ?? "en";
    const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    return { text: this.examples[0].text, lang, theme, lecture: false, ...this.fresh() };
  }

  /** The state in the address, else what the app wrote into the file (ui/export/take_away.py). */
  addressed() {
    const told = location.hash.slice(1) || document.getElementById("beginning").textContent;
    const found = Object.fromEntries(new URLSearchParams(told));
    return {
      ...("text" in found && { text: found.text.slice(0, LONGEST) }),
      ...(Object.hasOwn(this.texts, found.lang) && { lang: found.lang }),
      ...(["light", "dark"].includes(found.theme) && { theme: found.theme }),
      lecture: found.lecture === "1",
      accepted: readPlaces(found.accepted),
      rejected: readPlaces(found.rejected),
    };
  }

  /** Nothing behind # is ever sent to a server. */
  keepAddress() {
    const { text, lang, theme, lecture, accepted, rejected } = this.state;
    const shown = new URLSearchParams({ text, lang, theme });
    if (lecture) shown.set("lecture", "1");
    for (const [name, places] of Object.entries({ accepted, rejected }))
      if (places.length) shown.set(name, writtenPlaces(places));
    history.replaceState(null, "", `#${shown}`);
  }

  say = (key, values = {}) => filled(this.texts[this.state.lang][key], values);

  start() {
    const ids = ["live", "correction", "explorer", "status"];
    this.places = Object.fromEntries(ids.map((id) => [id, document.getElementById(id)]));
    this.controls();
    window.askAhead = (text) => this.ask({ text, opened: null, ...this.decisionsIn(text) });
    window.addEventListener("hashchange", () => this.change({ ...this.fresh(), ...this.addressed() }, true));
    this.dress();
    this.show();
    this.open();
    this.loadFont();
  }

  /** Keeps the site for visits without a network; asks for every part again, so after the first sentence. */
  keep() {
    if (navigator.serviceWorker && this.isServed) navigator.serviceWorker.register("service.js");
  }

  /** Waits for the pictures of the stored example while it is shown. A hidden page draws nothing; one whose
   * pictures cannot be drawn goes on, too. */
  async firstPictures() {
    const end = performance.now() + PATIENCE;
    const isStored = () => !document.hidden && this.answers.has(this.keyOf(this.wanted()));
    const isDrawn = () => document.querySelector(".heatmap .plot")?.dataset.drawn;
    while (isStored() && !isDrawn() && performance.now() < end)
      await new Promise((done) => setTimeout(done, SOON));
  }

  /** The font waits for the first pictures, which it redraws: to read it takes as long as to draw one. */
  async loadFont() {
    await this.firstPictures();
    document.fonts.add(await new FontFace("Noto Sans KR", await window.part("font")).load());
  }

  controls() {
    const press = (id, act) => (document.getElementById(id).onclick = act);
    press("theme", () => this.change({ theme: this.state.theme === "dark" ? "light" : "dark" }));
    press("lecture", () => this.change({ lecture: !this.state.lecture }));
    const languages = document.getElementById("language");
    for (const [lang, { language_name }] of Object.entries(this.texts))
      languages.append(Object.assign(new Option(language_name, lang), { lang }));
    languages.onchange = ({ target }) => this.change({ lang: target.value });
    document.getElementById("example").onchange = ({ target }) => {
      if (target.value) this.change({ ...this.fresh(), text: this.examples[target.value].text }, true);
      target.value = ""; // shows its label again
    };
  }

  /**
   * `off`: heads that are off; null: those with the largest effect. `row`: the written token that is asked
   * about; null: that of the change.
   */
  fresh = () => ({ opened: null, chosen: null, accepted: [], rejected: [], off: null, row: null });

  /** The decisions that still hold where the text has become `typed`. */
  decisionsIn(typed) {
    const { text, accepted, rejected } = this.state;
    const [made, left] = [accepted, rejected].map((places) => movedAlong(places, text, typed));
    return { accepted: made, rejected: left };
  }

  /** `overwrites`: whether the text area gets the text. */
  change(changed, overwrites = false) {
    Object.assign(this.state, changed);
    if (overwrites) this.revision += 1;
    this.keepAddress();
    this.dress();
    this.show();
  }

  /** The page's words and colours, where they are others than before, and its text. */
  dress() {
    const { lang, theme, lecture, text } = this.state;
    const look = JSON.stringify([lang, theme, lecture]);
    if (look !== this.look) this.dressAnew();
    this.look = look;
    const { say, revision } = this;
    const words = { label: say("input_label"), placeholder: say("input_placeholder"), waiting: "" };
    window.components.live_text({
      data: { text, revision, longest: LONGEST, ...words },
      parentElement: this.places.live.shadowRoot,
      setStateValue: (_, typed) => this.change({ ...this.fresh(), ...this.decisionsIn(typed), text: typed }),
    });
  }

  dressAnew() {
    const { lang, theme, lecture } = this.state;
    const { say } = this;
    const root = document.documentElement;
    root.lang = lang;
    root.dataset.theme = theme;
    root.toggleAttribute("data-lecture", lecture);
    document.title = say("product");
    for (const part of document.querySelectorAll("[data-text]")) part.textContent = say(part.dataset.text);
    this.dressControls();
  }

  dressControls() {
    const { lang, theme, lecture } = this.state;
    const { say } = this;
    document.getElementById("theme").textContent = say(theme === "dark" ? "site_light" : "site_dark");
    document.getElementById("lecture").setAttribute("aria-pressed", lecture);
    const languages = document.getElementById("language");
    languages.value = lang;
    languages.setAttribute("aria-label", say("lang_label"));
    const example = document.getElementById("example");
    example.setAttribute("aria-label", say("example_label"));
    const options = this.examples.map(({ id }, i) => new Option(say(`example_${id}`), i));
    example.replaceChildren(new Option(say("example_label"), ""), ...options);
  }

  keyOf = ({ text, opened = null, accepted = [], rejected = [], about = null }) =>
    JSON.stringify([text, opened, accepted, rejected, about]);

  wanted() {
    const { text, opened, accepted, rejected } = this.state;
    return { text, opened, accepted, rejected };
  }

  show() {
    const found = this.answers.get(this.keyOf(this.wanted()));
    if (!this.state.text.trim()) this.draw(null);
    else if (found) this.draw(found);
    else this.ask(this.wanted());
  }

  /** The answer of experiments.js about the sentence that is shown; undefined until the answer is there. */
  inquire(about) {
    const wanted = { ...this.wanted(), about };
    const key = this.keyOf(wanted);
    if (!this.answers.has(key)) this.ask(wanted);
    return this.answers.get(key)?.answer;
  }

  /** Asks the worker. A text alone may overtake an experiment; of waiting questions the latest is kept. */
  ask(wanted) {
    const key = this.keyOf(wanted);
    if (this.answers.has(key) || this.asked.some((each) => each.key === key) || !wanted.text.trim()) return;
    if (this.isOpen && this.asked.every(({ about }) => about && !wanted.about)) {
      this.asked.push({ key, about: wanted.about });
      this.worker.postMessage(wanted);
    } else if (!wanted.about || !this.waiting || this.waiting.about) this.waiting = wanted;
    this.tell();
  }

  heard({ found, error, isOpen, received }) {
    if (received) {
      Object.assign(this.received, received);
      return this.tell();
    }
    if (isOpen) {
      this.isOpen = true;
      setTimeout(() => this.keep(), LATER);
    }
    const answered = isOpen ? null : this.asked.shift();
    if (error) {
      this.failed = error;
      console.error(error);
    } else if (found) {
      this.failed = null;
      while (this.answers.size >= MOST_ANSWERS) this.answers.delete(this.answers.keys().next().value);
      this.answers.set(answered.key, found);
    }
    const next = this.waiting;
    this.waiting = null;
    if (next) this.ask(next);
    if (!error) this.show();
    this.tell();
  }

  /** The second worker waits for the first pictures: a small device does two things at once, not three. */
  async open() {
    try {
      this.tell();
      const { worker, prepare, listen } = await window.begunWorker;
      this.worker = worker;
      listen((data) => this.heard(data));
      await this.firstPictures();
      prepare();
    } catch (error) {
      this.heard({ error: String(error) });
    }
  }

  /** Says how far the download is, and nothing once the network is open. */
  tell() {
    const done = Object.values(this.received).reduce((sum, size) => sum + size, 0);
    const all = window.sizeOf(COMPUTED_WITH);
    const [loaded, whole] = [done, all].map((size) => (size / MEGABYTE).toFixed(1));
    const loading = this.say(done < all ? "site_loading" : "site_opening", { done: loaded, all: whole });
    this.places.status.textContent = this.failed ? this.say("site_failed") : this.isOpen ? "" : loading;
    this.places.status.dataset.open = this.isOpen ? "yes" : "no";
  }

  draw(found) {
    this.places.explorer.hidden = !found?.trace;
    if (found) {
      window.components.correction({
        data: {
          ...piecesOf({ ...found, rejected: this.state.rejected }, this.state.chosen, this.say),
          typed: found.typed,
        },
        parentElement: this.places.correction.shadowRoot,
        setTriggerValue: (_, { what, number }) => this.answer(found, what, number),
      });
      document.documentElement.dataset.shown = found.typed;
    }
    this.places.correction.hidden = !found;
    if (found?.trace) this.drawHeads(found);
  }

  drawHeads(found) {
    const { lang, theme, chosen } = this.state;
    const { changes } = found.sentences[found.place];
    const focus = changes.filter(({ number }) => number === chosen);
    const data = figuresOf(this.figures[lang][theme], found.trace, focus.length ? focus : changes);
    const more = moreViews(this, found, data.more);
    window.components.explore({
      data: Object.assign(data, { more, first: this.first }),
      parentElement: this.places.explorer,
    });
  }

  /** A change was pressed, or a sentence. */
  answer(found, what, number) {
    if (what === "open") return this.change({ opened: number, chosen: null });
    if (what === "all") return this.change({ rejected: [], chosen: null });
    if (what === "none") {
      const everything = allProposed(found).map(({ span }) => span);
      return this.change({ accepted: [], rejected: everything, chosen: null });
    }
    const isHere = (change) => change.number === number;
    const at = found.sentences.findIndex(({ proposed }) => proposed.some(isHere));
    // Unchanged for the shown sentence, so its kept answer is found again.
    const place = at === found.place ? this.state.opened : at;
    const pressed = allProposed(found).find(isHere);
    const decided = {
      accept: () => ({
        ...offeredWith(found, number).reduce((done, each) => decide(done, each, what), this.state),
        chosen: number,
      }),
      reject: () => ({ ...decide(this.state, pressed, what), chosen: null }),
      choose: () => ({ chosen: this.state.chosen === number ? null : number }),
    };
    this.change({ ...decided[what](), opened: place });
  }
}

/**
 * Starts the page with the content that deploy/site/build.py wrote into it. `isServed`: whether it comes from
 * a host. `Kind`: of the page.
 */
export async function begin(isServed, Kind = Site) {
  const packed = document.getElementById("content").textContent;
  const content = JSON.parse(new TextDecoder().decode(await window.unpacked(packed)));
  window.site = new Kind({ isServed, ...content });
  window.site.start();
}
