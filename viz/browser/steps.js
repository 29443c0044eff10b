// `Player`: replay of decoding, step by step. All steps are in the data, so moving asks for nothing.
const PACE = 700; // milliseconds that one step is shown while playing
const REST = 500; // milliseconds without a move after which the step is said aloud and reported
const WHOLE = 80; // strips of more tokens fold tokens far from the largest weights
const AROUND = 7; // tokens shown on each side of those
const LEAST = 0.01; // weights below it are not marked, even where only two are larger
const RECENT = 160; // produced tokens shown before the present one
const FORMATS = ["svg", "png"];

export default component("steps", () => Player);

/** Replays one sentence inside `root`. It leads: new data of the same revision never moves it. */
class Player {
  constructor(root) {
    this.root = root;
    this.step = 0; // counted from 0
    this.timer = this.rest = null;
    this.watch = new ResizeObserver(() => this.fit());
    this.build();
    this.listen();
  }

  build() {
    const part = (name, tag = "div") => (this[name] = node(tag, name));
    const pressed = (name, act) => (this[name] = button("", act, { className: name }));
    const buttons = [
      pressed("back", () => this.move(this.step - 1)),
      pressed("play", () => (this.timer ? this.move(this.step) : this.start())),
      pressed("forward", () => this.move(this.step + 1)),
      pressed("last_change", () => this.move(this.changeBefore())),
      pressed("next_change", () => this.move(this.changeAfter())),
    ];
    const saving = FORMATS.map((format) => pressed(format, () => this.save(format)));
    this.back.prepend(icon("M11 2 4 8l7 6z"));
    this.forward.prepend(icon("M5 2l7 6-7 6z"));
    this.range = Object.assign(node("input", "range"), { type: "range", min: 1, step: 1 });
    part("ticks").ariaHidden = "true";
    part("live").setAttribute("aria-live", "polite");
    const bar = node("div", "bar", ...buttons, part("position", "span"));
    const track = node("div", "track", this.range, this.ticks);
    const panels = node("div", "panels", this.panel("candidates"), this.panel("decision"));
    for (const body of [this.candidates, this.decision]) {
      body.remark = body.box.appendChild(node("p", "remark"));
    }
    const strips = [this.panel("source", "strip"), this.panel("self", "strip")];
    const scale = node("div", "scale", part("weight", "span"), "0", part("gradient", "i"), "1");
    const foot = node("div", "foot", scale, part("legend", "p"), ...saving);
    const head = [bar, track, this.panel("written"), part("words", "p")];
    this.root.replaceChildren(...head, panels, ...strips, foot, this.live);
  }

  /** A titled part of the picture: `this[name]` is its body, `this[name].heading` its heading. */
  panel(name, kind = name) {
    const body = (this[name] = node("div", `body ${kind}`));
    body.heading = node("h3", "heading");
    return (body.box = node("div", `panel of-${name}`, body.heading, body));
  }

  listen() {
    this.range.oninput = () => this.move(this.range.valueAsNumber - 1);
    this.root.onkeydown = (event) => {
      // By the key's place: with a Korean keyboard the same keys write jamo.
      const target = { KeyN: () => this.changeAfter(), KeyP: () => this.changeBefore() }[event.code];
      const space = event.code === "Space" && event.target === this.range;
      if (!isPlainKey(event) || !(target || space)) return;
      consume(event);
      if (space) this.play.click();
      else this.move(target());
    };
  }

  show(data, { setStateValue, setTriggerValue }) {
    const other = this.data?.revision !== data.revision;
    if (other) this.stop();
    this.data = unpacked(data);
    this.report = setStateValue;
    const part = (place) => setTriggerValue("parted", [this.step + 1, place]);
    this.part = data.may_part ? part : null;
    if (other) this.step = (this.reported = data.step) - 1;
    this.dress();
    this.draw();
    this.watch.observe(this.root, { box: "border-box" });
  }

  /** Texts, colours and marks, which are the same at every step. */
  dress() {
    const { texts, target, changes } = this.data;
    const { sequential, ...colours } = this.data.colours;
    const named = { ...colours, strong: sequential[4], ink: inkOn(sequential[4]), weak: sequential[2] };
    for (const [name, colour] of Object.entries(named)) this.root.style.setProperty(`--${name}`, colour);
    for (const name of ["back", "forward", "last_change", "next_change"])
      label(this[name], texts[`steps_${name}`]);
    for (const format of FORMATS)
      label(this[format], filled(texts.steps_save, { format: format.toUpperCase() }));
    this.range.setAttribute("aria-label", texts.steps_range);
    this.range.max = target.length;
    this.range.disabled = target.length < 2;
    this.last_change.hidden = this.next_change.hidden = !changes.length;
    this.legend.textContent = texts.steps_legend;
    this.weight.textContent = texts.steps_scale;
    this.gradient.style.background = `linear-gradient(to right, ${sequential.join(", ")})`;
    const ticks = changes.map(() => node("i", "tick"));
    const last = Math.max(target.length - 1, 1);
    ticks.forEach((tick, i) => tick.style.setProperty("--at", changes[i].start / last));
    this.ticks.replaceChildren(...ticks);
    this.strips = { source: new Map(), self: new Map() };
  }

  start() {
    if (this.step === this.data.target.length - 1) this.step = -1;
    clearTimeout(this.rest);
    this.live.textContent = "";
    this.timer = setInterval(() => this.tick(), PACE);
    this.tick();
  }

  tick() {
    this.step = Math.min(this.step + 1, this.data.target.length - 1);
    if (this.step === this.data.target.length - 1) this.move(this.step);
    else this.draw();
  }

  /** Stops without telling the page, which may be about to show something else. */
  stop() {
    clearInterval(this.timer);
    clearTimeout(this.rest);
    this.timer = this.rest = null;
  }

  leave() {
    this.watch.disconnect();
    this.stop();
  }

  /** Stops playing, too. */
  move(step) {
    clearInterval(this.timer);
    this.timer = null;
    this.step = Math.min(Math.max(step, 0), this.data.target.length - 1);
    this.draw();
    this.settle();
  }

  settle() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.live.textContent = this.words.textContent;
      if (this.reported !== this.step + 1) this.report?.("step", (this.reported = this.step + 1));
    }, REST);
  }

  changeAfter() {
    return this.data.changes.find((change) => change.start > this.step)?.start ?? this.step;
  }

  changeBefore() {
    return this.data.changes.findLast((change) => change.start < this.step)?.start ?? this.step;
  }

  save(format) {
    return savePicture(pictureOf(this.data, seenAt(this.data, this.step)), format, this.data.picture);
  }

  draw() {
    const { texts, target, colours, place } = this.data;
    this.root.classList.toggle("lecture", inLecture());
    this.data.whole = this.room();
    const seen = seenAt(this.data, this.step);
    const count = { step: this.step + 1, count: target.length };
    label(this.play, this.timer ? texts.steps_pause : texts.steps_play);
    const shape = this.timer ? "M4 2h3v12H4zM9 2h3v12H9z" : "M4 2l9 6-9 6z";
    this.play.replaceChildren(icon(shape), this.play.lastChild);
    this.range.value = count.step;
    const spoken = filled(texts.steps_position_spoken, { ...count, token: seen.name });
    this.range.setAttribute("aria-valuetext", spoken);
    this.position.textContent = filled(texts.steps_position, count);
    this.back.disabled = !this.step;
    this.forward.disabled = count.step === count.count;
    this.last_change.disabled = this.changeBefore() === this.step;
    this.next_change.disabled = this.changeAfter() === this.step;
    this.words.textContent = seen.words;
    this.drawWritten(seen);
    for (const { name, title, bars, note } of panelsOf(this.data, seen)) {
      this[name].heading.textContent = title;
      drawBars(this[name], bars, this.data, this.part);
      this[name].remark.textContent = note;
    }
    for (const name of ["source", "self"]) {
      this[name].box.hidden = !seen[name];
      this[name].heading.textContent = filled(texts[`steps_${name}`], { place });
      if (seen[name]) this.drawStrip(name, seen[name], colours);
    }
  }

  /** Draw anew where another width, or a lecture's style, which may come later, has room for other cells. */
  fit() {
    if (this.room() !== this.data.whole) this.draw();
  }

  /** How many cells of a strip are shown: in a lecture two rows, where three cells are as wide as two. */
  room() {
    if (!inLecture()) return WHOLE;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    return 2 * Math.floor(this.root.clientWidth / (1.55 * rem + 2)) - 3;
  }

  /** The text so far; the rest keeps its room, so that nothing jumps. */
  drawWritten({ written, rest, earlier }) {
    this.written.heading.textContent = this.data.texts.steps_written;
    const spans = written.map(({ token, changed }, place) =>
      node(changed ? "ins" : "span", place === written.length - 1 ? "token present" : "token", token),
    );
    this.written.replaceChildren(node("span", "earlier", earlier), ...spans, node("span", "coming", rest));
  }

  drawStrip(name, strip, colours) {
    const cells = this.strips[name];
    const wanted = strip.items.map((item) => {
      const key = item.folded ? `fold ${item.from}` : item.from;
      if (!cells.has(key)) cells.set(key, node("div", "cell", node("b", "sign"), node("span", "number")));
      const cell = cells.get(key);
      cell.className = `cell${item.rank ? " strongest" : ""}${item.hatched ? " hatched" : ""}`;
      cell.classList.toggle("folded", Boolean(item.folded));
      cell.classList.toggle("changed", Boolean(item.changed));
      cell.title = item.title;
      cell.firstChild.textContent = item.sign;
      cell.lastChild.textContent = item.number;
      const colour = item.hatched ? "" : shade(colours.sequential, item.weight);
      cell.style.backgroundColor = colour;
      cell.style.color = colour && inkOn(colour);
      return cell;
    });
    const body = Object.assign(this[name], { role: "img", ariaLabel: strip.spoken });
    const same =
      wanted.length === body.children.length && wanted.every((cell, i) => cell === body.children[i]);
    if (!same) body.replaceChildren(...wanted);
  }
}

/** The text of a button, beside the icon that it may have. */
function label(button, text) {
  const last = button.lastChild;
  if (last?.nodeType === Node.TEXT_NODE) last.data = text;
  else button.append(text);
}

function icon(path) {
  const drawing = shape("path", { d: path, fill: "currentColor" });
  return shape("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, drawing);
}

/**
 * A row in `body` for each of these; rows that are there are used again, so that bars grow and shrink and a
 * button
 * keeps the focus. */
function drawBars(body, rows, data, part) {
  while (body.children.length > rows.length) body.lastChild.remove();
  rows.forEach(({ token, probability, text, chosen, note, place }, number) => {
    const row = body.children[number] ?? body.appendChild(emptyRow());
    row.className = chosen ? "row chosen" : "row";
    const [sign, meter, value, remark, button] = row.children;
    sign.textContent = token === OUTSIDE ? data.texts.steps_outside_short : token;
    meter.firstChild.style.width = `${100 * probability}%`;
    value.textContent = text;
    remark.textContent = note ?? "";
    button.hidden = !part || (place ?? null) === null;
    if (button.hidden) return;
    button.textContent = data.texts.steps_part;
    const { steps_part_spoken, steps_part_kept } = data.texts;
    button.title =
      place === KEEP ? steps_part_kept : filled(steps_part_spoken, { token: nameOf(data, token) });
    button.setAttribute("aria-label", button.title);
    button.onclick = () => part(place);
  });
}

function emptyRow() {
  const parts = ["sign", "meter", "value", "note"].map((name) => node("span", name));
  parts[1].append(node("i", "filled"));
  return node("div", "row", ...parts, button("", null, { className: "part" }));
}
