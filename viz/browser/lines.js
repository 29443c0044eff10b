// `Lines`: attention as lines between two columns of tokens, with hover and pinned lines.
export default component("lines", () => Lines);

/** Weights as lines between two columns of tokens. It keeps the visitor's pointing by itself. */
class Lines {
  constructor(root) {
    this.root = root;
  }

  leave() {
    this.unwatch?.();
  }

  /** The same data again changes nothing; other weights of the same tokens keep what is pinned. */
  show(data) {
    const text = JSON.stringify(data);
    const subject = JSON.stringify([data.queries, data.keys, data.isolated]);
    const other = subject !== this.subject;
    if (text !== this.text) {
      const top = this.box?.scrollTop ?? 0;
      Object.assign(this, { data, text, subject, pointed: null, focused: null, pointedHead: null, width: 0 });
      if (other) this.pinned = data.isolated.length ? { side: "queries", places: data.isolated } : null;
      if (other) this.cursor = { side: "queries", place: data.isolated[0] ?? 0 };
      if (other || !data.heads[this.pinnedHead]) this.pinnedHead = null;
      this.build();
      this.fit();
      this.box.scrollTop = other ? (this.cursor.place - 2) * this.at.row : top;
    }
    this.leave();
    this.unwatch = watchRoom(this.box, () => this.fit());
  }

  build() {
    const { colours, words, heads } = this.data;
    for (const name of ["text", "quiet_text", "grid", "gap", "accent"])
      this.root.style.setProperty(`--${name}`, colours[name]);
    const entries = heads.map((head, index) => this.entry(head.name, index));
    this.legend = node("div", "legend", ...entries);
    Object.assign(this.legend, { role: "group", ariaLabel: words.legend });
    this.all = button(words.all, () => this.release());
    const saving = savingButtons(words, () => this.picture(), this.data.picture);
    const bar = node("div", "bar", this.legend, node("div", "tools", this.all, ...saving));
    this.box = node("div", "box");
    this.box.onscroll = () => this.head.setAttribute("transform", `translate(0 ${this.box.scrollTop})`);
    const spoken = { role: "region", ariaLive: "polite", ariaLabel: words.told };
    this.told = Object.assign(node("div", "told"), spoken);
    const hidden = Object.assign(node("p", "hidden", words.hidden), { hidden: !words.hidden });
    this.root.replaceChildren(bar, node("div", "parts", this.box, this.told), hidden);
  }

  /** One head of the legend: pointing at it shows its lines alone, pressing it keeps them. */
  entry(name, index) {
    const entry = button("", () => this.light({ pinnedHead: this.pinnedHead === index ? null : index }));
    entry.append(swatch(index, this.data.colours), name);
    entry.onpointerenter = ({ pointerType }) => pointerType === "mouse" && this.light({ pointedHead: index });
    entry.onpointerleave = () => this.light({ pointedHead: null });
    return entry;
  }

  /** Draw for the width, the size of type and, in a lecture, the height of the window there are now. */
  fit() {
    const [width, larger, room] = [this.box.clientWidth, enlargement(), this.room()];
    if (!width || (width === this.width && larger === this.larger && String(room) === String(this.had)))
      return;
    Object.assign(this, { width, larger, had: room });
    const again = this.box.contains(this.root.getRootNode().activeElement);
    this.at = arrange(this.data, width, larger, room);
    this.box.style.maxHeight = this.at.shown;
    // Longer words scroll, and move nothing.
    this.told.style.maxHeight = room?.[1] ? getComputedStyle(this.told).minHeight : "";
    this.draw();
    this.listen();
    this.light();
    if (again) this.tokens[this.cursor.side][this.cursor.place].focus({ preventScroll: true });
  }

  /** In a lecture the pixels down to the window's edge, and those of the words below the drawing. */
  room() {
    if (!inLecture()) return null;
    const isBelow = this.told.offsetTop > this.box.offsetTop;
    const words =
      parseFloat(getComputedStyle(this.told).minHeight) +
      parseFloat(getComputedStyle(this.box.parentElement).rowGap);
    return [Math.floor(roomBelow(this.box)), isBelow ? Math.ceil(words) + 1 : 0]; // 1: the line above them
  }

  draw() {
    const { at, data } = this;
    const { width, height } = at;
    this.tokens = {};
    const columns = ["queries", "keys"].map((side) => this.column(side));
    this.edges = shape("g", { class: "edges", fill: "none" }, ...this.curves(() => true, 0.06));
    this.chosen = shape("g", { class: "chosen", fill: "none" });
    this.numbers = shape("g", { class: "numbers", "font-size": at.small, fill: data.colours.text });
    this.head = this.titles();
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    const parts = [this.edges, this.chosen, ...columns, this.numbers, this.head];
    const named = { class: "drawing", ...size, role: "group", "aria-label": data.label };
    this.drawing = shape("svg", named, ...parts);
    this.box.replaceChildren(this.drawing);
    this.box.onscroll();
  }

  /** The `wanted` weights, the strongest on top; a weight of 0 would have the opacity `faintest`. */
  curves(wanted, faintest) {
    const { at, data } = this;
    const found = data.heads.flatMap(({ edges }, head) =>
      edges.filter((edge) => wanted(edge, head)).map((edge) => ({ edge, head })),
    );
    found.sort((one, other) => one.edge[2] - other.edge[2]);
    return found.map(({ edge, head }) =>
      shape("path", {
        d: curve(at, edge, head, data.heads.length),
        stroke: data.colours.qualitative[head],
        "stroke-width": (0.6 + at.thickest * edge[2]).toFixed(2),
        "stroke-opacity": (faintest + (1 - faintest) * edge[2]).toFixed(3),
        "stroke-dasharray": DASHES[head],
      }),
    );
  }

  /** The names of the columns, above them as far as there is room. */
  titles() {
    const { at, data } = this;
    const [query, key] = [data.query_title, data.key_title].map((title) => ems(title) * at.title + 6);
    const text = { y: at.head * 0.68, "font-size": at.title, fill: data.colours.quiet_text };
    return shape(
      "g",
      {},
      shape("rect", { width: at.width, height: at.head, fill: data.colours.gap }),
      shape("text", { ...text, x: Math.max(at.query - PAD, query), "text-anchor": "end" }, data.query_title),
      shape("text", { ...text, x: Math.min(at.key + PAD, at.width - key) }, data.key_title),
    );
  }

  column(side) {
    const title = side === "queries" ? this.data.query_title : this.data.key_title;
    this.tokens[side] = this.data[side].map((token, place) => this.token(side, token, place));
    return shape("g", { role: "group", "aria-label": title }, ...this.tokens[side]);
  }

  token(side, { sign, name, changed }, place) {
    const { at } = this;
    const { text, quiet_text: quiet, accent } = this.data.colours;
    const left = side === "queries";
    const y = at.y(place);
    const anchor = left ? "end" : "start";
    const beside = left ? at.query - PAD : at.key + PAD;
    const weights = at.slots * at.slot + 1.2 * at.small;
    const outside = left ? weights + at.number : at.width - weights - at.number;
    const start = left ? 1 : at.key + 2;
    const squeezed =
      ems(sign) * at.font > at.sign + 1 ? { textLength: at.sign, lengthAdjust: "spacingAndGlyphs" } : {};
    const size = { x: start, y: y - at.row / 2 + 0.5, width: at.query - 3, height: at.row - 1, rx: 4 };
    const look = { fill: changed ? accent : text, "font-weight": changed ? 700 : 400, ...squeezed };
    const write = (text, x, size, look) =>
      shape("text", { x, y: y + size * 0.36, "font-size": size, "text-anchor": anchor, ...look }, text);
    const group = { class: "token", role: "button", tabindex: -1, "data-side": side, "data-place": place };
    return shape(
      "g",
      { ...group, "aria-label": name },
      shape("rect", { ...size, class: "place", fill: "transparent" }),
      write(place + 1, outside, at.small, { fill: quiet }),
      write(sign, beside, at.font, look),
    );
  }

  listen() {
    const of = (event) => {
      const token = event.target.closest?.(".token");
      return token && { side: token.dataset.side, places: [Number(token.dataset.place)] };
    };
    this.drawing.onpointermove = (event) => event.pointerType === "mouse" && this.point(of(event));
    this.drawing.onpointerleave = () => this.point(null);
    this.drawing.onclick = (event) => this.pin(of(event));
    this.drawing.onkeydown = (event) => this.key(event);
    this.drawing.addEventListener("focusin", (event) => {
      this.light({ focused: event.target.matches(":focus-visible") ? of(event) : null });
    });
    this.drawing.addEventListener("focusout", () => this.light({ focused: null }));
  }

  point(target) {
    if (!same(target, this.pointed)) this.light({ pointed: target });
  }

  /** A pinned token stays when the pointer leaves; pinning it again, or nothing, lets go. */
  pin(target) {
    if (target) this.cursor = { side: target.side, place: target.places[0] };
    this.light({ pinned: same(target, this.pinned) ? null : target });
  }

  release() {
    const { side, place } = this.cursor;
    this.light({ pinned: null, pinnedHead: null });
    this.tokens[side][place].focus({ preventScroll: true });
  }

  key(event) {
    const { side, place } = this.cursor;
    const last = this.tokens[side].length - 1;
    const moves = {
      ArrowUp: [side, place - 1],
      ArrowDown: [side, place + 1],
      Home: [side, 0],
      End: [side, last],
      PageUp: [side, place - 10],
      PageDown: [side, place + 10],
      ArrowLeft: ["queries", place],
      ArrowRight: ["keys", place],
    };
    if (!isPlainKey(event)) return;
    if (event.key in moves) this.go(...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.pin({ side, places: [place] });
    else if (event.key === "Escape" && this.pinned) this.pin(null);
    else return;
    consume(event);
  }

  go(side, place) {
    const there = Math.min(Math.max(place, 0), this.tokens[side].length - 1);
    this.tokens[this.cursor.side][this.cursor.place].setAttribute("tabindex", -1);
    this.cursor = { side, place: there };
    this.tokens[side][there].focus();
    const top = this.at.y(there) - this.at.row / 2 - this.at.head; // the titles cover the lines above
    this.box.scrollTop = Math.min(this.box.scrollTop, top);
  }

  /**
   * Show the lines of the tokens pointed at, focused or pinned, in this order; else all lines. `changed`:
   * which ones these are now.
   */
  light(changed) {
    const { data } = Object.assign(this, changed);
    const shown = this.pointed ?? this.focused ?? this.pinned;
    const only = this.pointedHead ?? this.pinnedHead;
    const end = shown?.side === "keys" ? 1 : 0;
    const wanted = (edge, head) =>
      (only === null || head === only) && (!shown || shown.places.includes(edge[end]));
    const isolated = shown || only !== null;
    this.edges.setAttribute("display", isolated ? "none" : "inline");
    this.chosen.replaceChildren(...(isolated ? this.curves(wanted, 0.3) : []));
    for (const [side, tokens] of Object.entries(this.tokens))
      tokens.forEach((token, place) => {
        const lit = side === shown?.side && shown.places.includes(place);
        const here = side === this.cursor.side && place === this.cursor.place;
        token.firstChild.setAttribute("fill", lit ? data.colours.gap : "transparent");
        token.setAttribute("aria-pressed", this.pinned?.side === side && this.pinned.places.includes(place));
        token.setAttribute("tabindex", here ? 0 : -1);
      });
    const found = (shown?.places ?? []).map((place) =>
      this.ends((edge, head) => edge[end] === place && wanted(edge, head), 1 - end),
    );
    const beside = found.length === 1 ? found[0] : []; // of several tokens, no number tells whose it is
    this.numbers.replaceChildren(...beside.flatMap((one) => this.beside(one, 1 - end)));
    [...this.legend.children].forEach((entry, head) =>
      entry.setAttribute("aria-pressed", head === this.pinnedHead),
    );
    this.all.hidden = !this.pinned && this.pinnedHead === null;
    this.tell(shown, found);
  }

  /** The tokens at the ends of lines: [{place, weights: [[head, weight], …]}, …], the strongest first. */
  ends(wanted, end) {
    const lit = this.data.heads.flatMap(({ edges }, head) =>
      edges.filter((edge) => wanted(edge, head)).map((edge) => [edge[end], [head, edge[2]]]),
    );
    const found = grouped(lit, ([place]) => place);
    const ends = [...found].map(([place, all]) => ({ place, weights: all.map(([, weight]) => weight) }));
    const strongest = ({ weights }) => Math.max(...weights.map(([, weight]) => weight));
    return ends.sort((a, b) => strongest(b) - strongest(a));
  }

  /** The weights beside a token, each underlined as its head; the strongest where room is short. */
  beside({ place, weights }, end) {
    const { at, data } = this;
    const strongest = [...weights].sort((one, other) => other[1] - one[1]).slice(0, at.slots);
    const seen = weights.filter((weight) => strongest.includes(weight));
    const edge = end ? at.width - at.slots * at.slot - at.small * 0.9 : 0;
    const y = at.y(place);
    const number = (text, x) => shape("text", { x, y: y + at.small * 0.28 }, text);
    const drawn = seen.flatMap(([head, weight], index) => {
      const x = edge + (end ? 0 : at.slots - seen.length) * at.slot + index * at.slot + 2;
      const line = { x1: x, x2: x + at.slot - PAD, y1: y + at.small * 0.62, y2: y + at.small * 0.62 };
      const look = { stroke: data.colours.qualitative[head], "stroke-dasharray": DASHES[head] };
      return [number(weight.toFixed(3), x), shape("line", { ...line, ...look, "stroke-width": 2 })];
    });
    const more = number("…", end ? at.width - at.small : at.slots * at.slot);
    return seen.length < weights.length ? [...drawn, more] : drawn;
  }

  /** The same in words: of each isolated token, its partners and their weights. */
  tell(shown, found) {
    const { data } = this;
    const { query_title: query, key_title: key, queries, keys } = data;
    const [arrow, title, own, aim, others] =
      shown?.side === "keys" ? ["←", key, keys, query, queries] : ["→", query, queries, key, keys];
    const parts = (shown?.places ?? []).flatMap((place, index) => {
      const items = found[index].map(({ place, weights }) => {
        const numbers = weights.map(([head, weight]) => {
          const number = node("span", "weight", swatch(head, data.colours, 20), weight.toFixed(3));
          return Object.assign(number, { title: data.heads[head].name });
        });
        return node("li", "", node("b", "", others[place].name), ...numbers);
      });
      const heading = node("p", "", node("b", "", `${title} ${own[place].name}`), ` ${arrow} ${aim}`);
      return [heading, items.length ? node("ul", "", ...items) : data.words.none];
    });
    this.told.replaceChildren(...(shown ? parts : [node("p", "", data.words.hint)]));
    if (this.told.scrollHeight > this.told.clientHeight) this.told.tabIndex = 0;
    else this.told.removeAttribute("tabindex");
  }

  /** The drawing, with the legend that the page has beside it. */
  picture() {
    const { width, height } = this.at;
    const legend = legendOf(this.data, width);
    const picture = this.drawing.cloneNode(true);
    picture.lastChild.removeAttribute("transform"); // the titles, wherever the box is scrolled to
    picture.setAttribute("viewBox", `0 ${-legend.height} ${width} ${height + legend.height}`);
    picture.append(legend.drawing);
    return picture;
  }
}

function same(one, other) {
  return one?.side === other?.side && String(one?.places) === String(other?.places);
}
