// Corrected text whose changed words are buttons; each opens a card about its change.
// The card has the wrong text, the reason and the confidence.

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".correction");
  root.typed = data.typed;
  const text = JSON.stringify({ ...data, typed: null });
  root.ask = (what, number) => setTriggerValue("asked", { what, number });
  root.opened ??= null;
  root.watched ??= watch(root);
  if (text === root.shown) return;
  Object.assign(root, { shown: text, data });
  if (root.pending === data.chosen) root.pending = null;
  if (root.opened !== data.chosen && !Number.isInteger(root.pending)) root.opened = null;
  const here = root.getRootNode().activeElement?.dataset?.key;
  root.replaceChildren(bar(root), sentence(root), card(root), hint(data));
  place(root);
  if (here) successor(root, here)?.focus({ preventScroll: true });
}

/** The control that had the focus by its key, or its word, or the next one. */
function successor(root, key) {
  const words = [...root.querySelectorAll(".change, .offer")];
  const number = Number(key.slice(1));
  return (
    root.querySelector(`[data-key="${key}"]:enabled`) ??
    words.find(({ numbers }) => numbers.includes(number)) ??
    words.find(({ numbers }) => numbers[0] > number) ??
    root.querySelector(".bar button:enabled")
  );
}

/**
 * Tells the page how high text and correction are together. A phone keeps them in view, a long text's end
 * (style.css). Keys and presses outside close what is open.
 */
function watch(root) {
  const writing = writingOf(root);
  const watched = new ResizeObserver(() => {
    const height = `${writing?.offsetHeight}px`;
    if (writing && height !== root.height) {
      document.documentElement.style.setProperty("--writing", (root.height = height));
      window.dispatchEvent(new Event("resize")); // the pictures below fit the room that is left
    }
    place(root);
  });
  watched.observe(writing ?? root);
  root.onkeydown = (event) => press(root, event);
  const inside = (event) =>
    event.composedPath().some((each) => each.matches?.(".card, .list, .change, .bar"));
  document.addEventListener("pointerdown", (event) => inside(event) || close(root));
  return watched;
}

/** The part of the page above the pictures. */
const writingOf = (root) => root.getRootNode().host?.closest(".st-key-writing");

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

function press(root, event) {
  if (event.key === "Escape") close(root, true);
  if (event.key === "Tab" && tab(root, event.target, event.shiftKey)) event.preventDefault();
  const step = STEPS[event.key];
  if (step && root.listed && event.target.closest(".count, .list")) {
    event.preventDefault();
    return along(root, event.target, step);
  }
  if (!step || !event.target.closest(".change, .card, .step")) return;
  event.preventDefault();
  go(root, step, event.target.closest(".change")?.numbers);
}

/** From the button of the list to its entries, and from one to the next; the first one after the last. */
function along(root, from, step) {
  const entries = [...root.querySelectorAll(".list button")];
  const at = entries.indexOf(from) + step;
  entries.at(at < 0 ? -1 : at % entries.length).focus();
}

/** The card comes after its word, and the next word after the card. Returns whether the focus was moved. */
function tab(root, from, back) {
  if (root.opened === null) return false;
  const words = [...root.querySelectorAll(".change")];
  const word = wordOf(root, root.opened);
  const controls = [...root.querySelectorAll(".card button")];
  const order = [word, ...controls, words[words.indexOf(word) + 1]];
  const to = order.includes(from) ? order[order.indexOf(from) + (back ? -1 : 1)] : null;
  to?.focus();
  return Boolean(to);
}

/** Whether another text has been typed, which is not corrected yet. */
const isBehind = ({ typed }) => (window.typedText?.() ?? typed) !== typed;

/** The changes that are made, in the order of the text. */
const made = ({ data: { pieces } }) => pieces.flatMap((piece) => piece.made ?? []);

/** Opens the next or the last change; the first one where none is open. */
function go(root, step, here = []) {
  const all = made(root);
  const now = all.indexOf(root.opened ?? root.data.chosen ?? here[0]);
  const to = root.opened === null && here.length ? all.indexOf(here[0]) + step : now < 0 ? 0 : now + step;
  const next = all[(to + all.length) % all.length];
  if (next !== undefined) show(root, next, true);
}

/** Opens the card of the change `number` and puts the change in focus. */
function show(root, number, takesFocus = false) {
  root.opened = number;
  root.listed = false;
  if (number !== root.data.chosen) {
    root.pending = number;
    root.ask("choose", number);
  }
  const word = takesFocus && wordOf(root, number);
  if (word) bring(word);
  draw(root); // the card is placed where its word is now
  if (word) word.focus({ preventScroll: true });
}

/** Scrolls to the middle of the window, where a card has room, unless it is in sight. */
function bring(word) {
  const isSeen = ({ top, bottom }) => top >= 0 && bottom <= 0.75 * innerHeight;
  // Twice: a part of the page that is held at the window's edge (style.css) moves along at first.
  for (const block of ["center", "center"])
    if (!isSeen(word.getBoundingClientRect())) word.scrollIntoView({ block });
}

function close(root, takesFocus = false) {
  const word = takesFocus && (wordOf(root, root.opened) ?? root.querySelector(".count"));
  if (root.opened === null && !root.listed) return;
  Object.assign(root, { opened: null, listed: false });
  draw(root);
  if (word) word.focus({ preventScroll: true });
}

function draw(root) {
  root.querySelector(".card").replaceWith(card(root));
  root.querySelector(".list").replaceWith(list(root));
  root.querySelector(".count").setAttribute("aria-expanded", Boolean(root.listed));
  for (const word of root.querySelectorAll(".change")) mark(root, word);
  place(root);
}

const wordOf = (root, number) =>
  [...root.querySelectorAll(".change")].find(({ numbers }) => numbers.includes(number));

const whole = (parts) => parts.map(([text]) => text).join("");

/** A word as it was typed and with all its changes. */
const changed = ({ typed, now }) => `${whole(typed)} → ${whole(now)}`;

/** How many words are corrected, by the first kind of each, and everything that concerns all of them. */
function bar(root) {
  const { pieces, words, text } = root.data;
  const places = pieces.filter(({ made }) => made?.length);
  const counted = node("b", "", filled(words.count, { count: places.length }));
  const count = control("count", "count", () => open(root), counted);
  count.setAttribute("aria-controls", "list");
  const left = pieces.filter(({ offer }) => offer).length;
  count.disabled = !places.length && !left;
  const kinds = {};
  for (const [kind] of places.map((piece) => piece.kinds)) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const sorted = Object.entries(kinds).sort(([, one], [, other]) => other - one);
  for (const [kind, times] of sorted) count.append(node("span", "kind", `${kind} ${times}`));
  if (left) count.append(node("span", "left", `${words.left} ${left}`));
  const acts = node("span", "acts");
  if (words.all) acts.append(control("all", "all", () => act(root, "all"), words.all));
  const told = Object.assign(node("span", "told"), { role: "status" });
  const copying = () =>
    isBehind(root) ? sayBriefly(told, words.behind) : copyText(text, told, words.copied);
  const copy = control("copy", "copy", copying, words.copy);
  copy.title = words.copy_long;
  acts.append(copy, told);
  return node("div", "bar", count, list(root), acts); // Tab leads from the button into its list
}

function open(root) {
  Object.assign(root, { listed: !root.listed, opened: null });
  draw(root);
}

/** All corrected words and offers in their order; one that is pressed comes into sight. */
function list(root) {
  const { pieces, proposals, words } = root.data;
  const box = Object.assign(node("section", "list"), { id: "list", hidden: !root.listed });
  if (!root.listed) return box;
  const entries = [];
  const add = (number, act, what, about) => {
    const entry = control("entry", `e${number}`, () => act(root, number, true));
    entry.append(apart(what), node("small", "", about.filter(Boolean).join(" · ")));
    entries.push(node("li", "", entry));
  };
  for (const piece of pieces) {
    const cards = piece.made?.map((number) => proposals[number]) ?? [];
    const sure = new Set(cards.map((each) => each.sure));
    const each = sure.size > 1 && cards.map(({ kinds, sure }) => `${kinds.join(", ")}: ${sure}`);
    if (cards.length) add(piece.made[0], show, changed(piece), each || [...piece.kinds, ...sure]);
    if (!piece.offer) continue;
    const { number, text, share } = piece.offer;
    add(number, reach, changed({ ...piece, now: [[text]] }), [words.left, share]);
  }
  box.append(node("ol", "", ...entries));
  const none = control("none", "none", () => act(root, "none"), words.none);
  if (words.none && made(root).length) box.append(node("p", "acts", none));
  return box;
}

/** Leads from the list to the word that is offered the change `number`. */
function reach(root, number) {
  close(root);
  const word = root.querySelector(`[data-key="o${number}"]`);
  bring(word);
  word.focus({ preventScroll: true });
}

function sentence(root) {
  const { pieces, opened, words, language } = root.data;
  const line = node("p", "corrected");
  Object.assign(line, { lang: language ?? "ko", ariaLabel: words.label });
  for (const piece of pieces) {
    if ("sentence" in piece) line.append(number(root, piece.sentence, opened, words));
    else if ("rest" in piece) line.append(node("bdi", "rest", piece.rest));
    else if ("text" in piece) line.append(apart(piece.text));
    else line.append(...word(root, piece));
  }
  return line;
}

/** Where a sentence begins; pressed, its pictures are shown. */
function number(root, place, opened, words) {
  const button = control("sentence", `s${place}`, () => root.ask("open", place), String(place + 1));
  button.setAttribute("aria-pressed", place === opened);
  return Object.assign(button, { ariaLabel: filled(words.open, { number: place + 1 }) });
}

function word(root, { typed, now, made, offer }) {
  const found = [];
  if (made.length) {
    const button = control("change", `c${made[0]}`, () => pressed(root, made));
    button.numbers = made;
    button.append(marked("del", typed), marked("ins", now));
    mark(root, button);
    found.push(button);
  } else found.push(apart(whole(typed)));
  if (!offer) return found;
  const { number, shown, share, accept } = offer;
  const button = control("offer", `o${number}`, () => root.ask("accept", number), shown);
  button.append(node("small", "", share));
  button.numbers = [number];
  button.title = button.ariaLabel = filled(root.data.words[accept], offer);
  return [...found, button];
}

/** Each press opens the word's next change; one after the last closes the card and lets the word go. */
function pressed(root, made) {
  const at = made.indexOf(root.opened);
  const next = at < 0 ? (made.includes(root.data.chosen) ? root.data.chosen : made[0]) : made[at + 1];
  if (next !== undefined) return show(root, next);
  root.pending = null;
  close(root);
  root.ask("choose", made[at]);
}

function mark(root, button) {
  button.setAttribute("aria-pressed", button.numbers.includes(root.opened ?? root.data.chosen));
  button.setAttribute("aria-expanded", button.numbers.includes(root.opened));
}

/** One line below the text, always there. */
function hint({ words, chosen }) {
  return node("p", "about", chosen === null ? words.hint : "");
}

/** The change that is open: what was wrong and why, how sure, and everything that can be done about it. */
function card(root) {
  const { pieces, proposals, words } = root.data;
  const found = proposals[root.opened];
  const box = node("section", "card");
  box.hidden = !found;
  if (!found) return box;
  const what = changed(pieces.find(({ made }) => made?.includes(root.opened)));
  Object.assign(box, { role: "dialog", ariaLabel: what });
  const shut = control("close", "close", () => close(root, true), "×");
  shut.ariaLabel = words.close;
  const head = node("p", "head", node("b", "", apart(what)));
  if (found.part) head.append(node("span", "part", found.part));
  for (const kind of found.kinds) head.append(node("span", "kind", kind));
  const why = node("p", "why", found.why);
  if (found.article) why.append(node("cite", "", found.article));
  box.append(head, why, node("p", "sure", [found.sure, found.note].filter(Boolean).join(" · ")));
  const acts = node("p", "acts");
  // Where a word has several changes, only that of this card is taken back.
  const names = found.part ? { ...words, reject: `${words.reject}: ${found.typed}` } : words;
  for (const what of ["reject", "own", "test"].filter((each) => words[each]))
    acts.append(control(what, what, () => act(root, what), names[what]));
  const corner = node("p", "corner");
  const arrows = { "‹": [words.previous, -1], "›": [words.next, 1] };
  if (made(root).length > 1)
    for (const [sign, [label, step]] of Object.entries(arrows)) {
      const arrow = control("step", `step${step}`, () => go(root, step), sign);
      arrow.title = arrow.ariaLabel = label;
      corner.append(arrow);
    }
  corner.append(shut);
  box.append(acts, corner);
  return box;
}

/** `what` is asked about the open change; about all of them where none is open. */
function act(root, what) {
  const number = root.opened ?? 0;
  close(root, true);
  root.ask(what, number);
}

/**
 * Below its line where it ends above the three numbers, else below these, over the small maps: it lies neither
 * over the typed text nor over menus. At the end of the window it is above its line.
 */
function place(root) {
  root.querySelector(".list").style.top = `${root.querySelector(".bar").offsetHeight}px`;
  const box = root.querySelector(".card");
  const word = box && !box.hidden && wordOf(root, root.opened);
  // In a lecture all that a card would cover is looked at: there it has room of its own (lecture.css).
  box?.classList.toggle("roomy", inLecture());
  if (!word || inLecture()) return;
  const outer = root.getBoundingClientRect();
  const lines = [...word.getClientRects()];
  const { left, bottom } = lines.at(-1);
  const writing = writingOf(root);
  const lowest = writing?.getBoundingClientRect().bottom ?? outer.bottom;
  const measured = writing?.querySelector(".st-key-measured")?.getBoundingClientRect();
  // Of a long text they come to the window's edge (style.css).
  const numbers = measured ? Math.min(measured.top, innerHeight - measured.height) : outer.bottom;
  const [below, above] = [bottom + 6, lines[0].top - box.offsetHeight - 4];
  const last = innerHeight - box.offsetHeight - 4;
  const ends = Math.min(last, numbers - box.offsetHeight);
  const places = [below <= ends && below, lowest <= last && lowest, above >= 0 && above];
  const top = places.find(Number.isFinite) ?? Math.max(0, Math.min(below, last));
  box.style.left = `${Math.max(0, Math.min(left - outer.left, outer.width - box.offsetWidth))}px`;
  box.style.top = `${top - outer.top}px`;
}

/** A button that keeps the focus, by its `key`, where the text is drawn anew. */
function control(className, key, act, text = "") {
  const made = button("", act, { className });
  made.append(text);
  made.dataset.key = key;
  return made;
}

function marked(tag, parts) {
  // The marks of spaces are drawn by the style, so that what is copied holds none.
  const kind = (text) => (text === "" ? "closed" : text.trim() ? "" : "gap");
  const written = parts.map(([text, differs]) => (differs ? node("b", kind(text), text) : text));
  return node(tag, "", apart(...written));
}

/** Typed characters may turn the direction of writing; their effect ends with the piece. */
const apart = (...parts) => node("bdi", "", ...parts);
