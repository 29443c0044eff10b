// The corrected text. A changed word is a button: what was typed, small, and what stands now.

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".correction");
  const text = JSON.stringify(data);
  root.ask = (what, number) => setTriggerValue("asked", { what, number });
  root.watched ??= watch(root.getRootNode().host?.closest(".st-key-writing"));
  if (text === root.shown) return;
  root.shown = text;
  const here = root.getRootNode().activeElement?.dataset?.key;
  root.replaceChildren(sentence(root, data), about(root, data), norm(root, data));
  if (here) root.querySelector(`[data-key="${here}"]`)?.focus({ preventScroll: true });
}

/**
 * Tells the page how high text and correction are together. A phone keeps them in view, a long text's end
 * (style.css).
 */
function watch(writing) {
  if (!writing) return null;
  const told = () => document.documentElement.style.setProperty("--writing", `${writing.offsetHeight}px`);
  const watched = new ResizeObserver(told);
  watched.observe(writing);
  return watched;
}

function sentence(root, { pieces, chosen, opened, words, language }) {
  const line = node("p", "corrected");
  line.lang = language ?? "ko";
  line.setAttribute("aria-label", words.label);
  for (const piece of pieces) {
    if ("sentence" in piece) line.append(number(root, piece.sentence, opened, words));
    else if ("text" in piece) line.append(apart(piece.text));
    else line.append(...word(root, piece, chosen, words));
  }
  return line;
}

/** Where a sentence begins; pressed, its pictures are shown. */
function number(root, place, opened, words) {
  const button = control("sentence", `s${place}`, () => root.ask("open", place), String(place + 1));
  button.setAttribute("aria-pressed", place === opened);
  button.setAttribute("aria-label", words.open.replace("{number}", place + 1));
  return button;
}

function word(root, { typed, now, made, offered }, chosen, words) {
  const found = [];
  if (made.length) {
    const focused = made.indexOf(chosen);
    // Each press chooses the word's next change; after the last one, a press chooses none.
    const next = made[focused + 1] ?? made[focused];
    const button = control("change", `c${made[0]}`, () => root.ask("choose", next));
    button.append(marked("del", typed), marked("ins", now));
    button.setAttribute("aria-pressed", focused >= 0);
    found.push(button);
  } else found.push(apart(typed.map(([text]) => text).join("")));
  for (const { number, text, shown, share, accept } of offered) {
    const button = control("offer", `o${number}`, () => root.ask("accept", number), shown);
    button.append(node("small", "", share));
    button.setAttribute("aria-label", words[accept].replace("{text}", text).replace("{share}", share));
    button.title = button.getAttribute("aria-label");
    found.push(button);
  }
  return found;
}

/** One line below the text, always there, so that choosing a word moves nothing. */
function about(root, { proposals, chosen, words, text }) {
  const line = node("p", "about");
  line.setAttribute("aria-live", "polite");
  const found = proposals[chosen];
  const what = node("span", "what", found?.about ?? words.hint);
  what.title = what.textContent; // where the line is too short for it
  const acts = node("span", "acts");
  line.append(what, acts);
  if (found?.norm) {
    const button = control(
      "article",
      "norm",
      () => tell(root, root.told !== chosen && chosen),
      short(found.norm[0]),
    );
    button.setAttribute("aria-controls", "norm");
    button.title = found.norm[1];
    acts.append(button);
  }
  if (found && words.reject)
    acts.append(control("undo", "undo", () => root.ask("reject", chosen), words.reject));
  const copy = control("copy", "copy", () => copyText(text, copy, words.copied), words.copy);
  copy.title = words.copy_long;
  acts.append(copy);
  return line;
}

/** Most articles are of one regulation, which the box below names. */
function short(article) {
  return article.replace("한글 맞춤법 ", "");
}

/** What the article says, in a box that lies over what follows, so that opening it moves nothing. */
function norm(root, { proposals, chosen }) {
  const box = node("p", "norm");
  box.id = "norm";
  const found = proposals[chosen]?.norm;
  if (found) box.append(node("b", "", found[0]), ` ${found[1]}`);
  root.onkeydown = ({ key }) => {
    // No short form with &&: a returned false would cancel every other key.
    if (key === "Escape") tell(root, null);
  };
  queueMicrotask(() => tell(root, root.told === chosen && found ? chosen : null));
  return box;
}

/** Opens the article of the change `number`; anything but a number closes it. */
function tell(root, number) {
  root.told = Number.isInteger(number) ? number : null;
  root.querySelector(".norm").hidden = root.told === null;
  root.querySelector(".article")?.setAttribute("aria-expanded", root.told !== null);
}

/** A button that keeps the focus, by its `key`, where the text is drawn anew. */
function control(className, key, act, text = "") {
  const made = button(text, act, { className });
  made.dataset.key = key;
  return made;
}

function marked(tag, parts) {
  const side = node(tag, "");
  // The marks of spaces are drawn by the style, so that what is copied holds none.
  const kind = (text) => (text === "" ? "closed" : text.trim() ? "" : "gap");
  const written = apart("");
  written.append(...parts.map(([text, differs]) => (differs ? node("b", kind(text), text) : text)));
  side.append(written);
  return side;
}

/**
 * What somebody has typed may hold characters that turn the direction of writing. Their effect ends with the
 * piece.
 */
function apart(text) {
  return node("bdi", "", text);
}
