// `Explorer`: all heads of a trace, and one map as a heatmap, as lines, or step by step.
// A page may add views of its own in `data.more`: each has a `name`, a `label`, and `draw(place, explorer)`.

const MEAN = "mean";
const VIEWS = ["heatmap", "lines", "steps"];
// What is chosen at first. Linked explorers share it.
const AT_FIRST = { layer: 0, head: 0, view: "heatmap", logarithmic: false, fitted: false };
const CHOSEN = [...Object.keys(AT_FIRST), "mass"];
const linked = []; // the explorers of a page with several traces
const unpackedTraces = []; // for each trace the kinds of attention with their weights, once they are unpacked
let together = true; // whether linked explorers follow each other

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".explore");
  root.explorer ??= new Explorer(root);
  return root.explorer.show(data);
}

class Explorer {
  constructor(root) {
    Object.assign(this, { root, turn: 0, mass: USUAL_MASS / 100, ...AT_FIRST });
  }

  /**
   * Shows a trace; layer, head and view stay as they were chosen, and `data.first`, {kind, layer, head}, is
   * chosen at first.
   * `data.kinds` hold `values`, or `weights` that explore.py packed. */
  async show(data) {
    const turn = (this.turn += 1);
    const ready = Promise.all(data.kinds.map((kind) => this.unpack(kind, data)));
    if (data.place !== undefined) unpackedTraces[data.place] = ready;
    await ready;
    if (turn !== this.turn) return; // a newer one came meanwhile
    const { kind: first, ...place } = this.kind ? {} : (data.first ?? {});
    Object.assign(this, place);
    const chosen = this.kind?.kind ?? first;
    const kind = data.kinds.find((each) => each.kind === chosen) ?? data.kinds[0];
    Object.assign(this, { data, words: data.words, kind });
    if (!this.places) this.build();
    if (data.linked && !linked.includes(this)) linked.push(this);
    const leader = together && linked.find((each) => each !== this);
    if (leader) this.follow(leader);
    this.note.textContent = data.words.note;
    this.settle();
    this.draw();
    this.root.dataset.ready = "yes";
  }

  /** Adds to the kind its `values` (L, H, Q, K), and which of its cells are empty. */
  async unpack(kind, { unit, difference }) {
    const of = async (place) => (await unpackedTraces[place]).find((each) => each.kind === kind.kind).values;
    if (difference) kind.values ??= minus(await of(difference[1]), await of(difference[0]));
    kind.values ??= await unpackedWeights(kind.weights, unit);
    delete kind.weights;
    if (typeof kind.sparse === "string") kind.sparse = await unpackedFlags(kind.sparse);
    return Object.assign(kind, emptyCells(kind));
  }

  build() {
    const { data } = this;
    const has = { heatmap: true, lines: !data.difference, steps: Boolean(data.steps) };
    const views = [...VIEWS.filter((view) => has[view]), ...(data.more ?? []).map(({ name }) => name)];
    if (data.difference) this.fitted = true; // two traces may differ by little
    this.places = Object.fromEntries(["overview", ...views].map((name) => [name, node("div", name)]));
    const { overview, ...open } = this.places;
    this.beside = node("div", "beside", overview);
    this.controls = node("div", "controls");
    const looks = node("div", "looks", this.beside, node("div", "view", ...Object.values(open)));
    this.note = node("p", "note");
    if (data.name) this.root.append(node("h2", "", data.name));
    this.root.append(this.controls, looks, this.note);
  }

  /** Everything as it is chosen now. Only the open view is drawn. */
  draw() {
    this.drawControls();
    for (const [name, place] of Object.entries(this.places))
      place.hidden = name !== "overview" && name !== this.view;
    this.drawOverview();
    this.beside.hidden = this.places.overview.hidden;
    const own = { heatmap: this.drawMap, lines: this.drawLines, steps: this.drawSteps }[this.view];
    if (own) own.call(this);
    else this.data.more.find(({ name }) => name === this.view).draw(this.places[this.view], this);
  }

  /** Float32Array (Q * K) of the map that is open. */
  weights() {
    return mapOf(this.kind, this.layer, this.head);
  }

  choose(changed) {
    Object.assign(this, changed);
    this.settle();
    const others = this.data.linked && together ? linked.filter((each) => each !== this) : [];
    others.forEach((other) => other.follow(this));
    [this, ...others].forEach((each) => each.draw());
  }

  /** Shows the same layer, head and view as the explorer `leader`, as far as this trace has them. */
  follow(leader) {
    const { view, fitted } = this;
    for (const name of CHOSEN) this[name] = leader[name];
    if (!this.places[this.view]) this.view = view;
    const isOther = Boolean(this.data.difference) !== Boolean(leader.data.difference);
    if (isOther) this.fitted = fitted && !this.logarithmic; // differences have a scale of their own
    this.kind = this.data.kinds.find(({ kind }) => kind === leader.kind.kind) ?? this.kind;
    this.settle();
  }

  /** Moves the chosen layer and head into the bounds of this trace, which may have fewer. */
  settle() {
    if (this.view === "steps" && this.kind.kind === "encoder_attention") this.kind = this.data.kinds.at(-1);
    const [layers, heads] = this.kind.shape;
    if (this.layer !== MEAN) this.layer = Math.min(this.layer, layers - 1);
    if (this.head !== MEAN) this.head = Math.min(this.head, heads - 1);
  }

  drawControls() {
    const { data, kind, words } = this;
    const [layers, heads] = kind.shape;
    const place = data.kinds.indexOf(kind);
    const shown = JSON.stringify([CHOSEN.map((name) => this[name]), place, layers, heads, together]);
    // To lay them out takes as long as a small picture.
    if (this.controlled?.shown === shown && this.controlled.words === words) return;
    this.controlled = { shown, words };
    const numbered = (count) => [[MEAN, words.mean], ...upTo(count).map((i) => [i, String(i + 1)])];
    const parts = [];
    if (data.kinds.length > 1) {
      const labels = data.kinds.map(({ label }, i) => [i, label]);
      const choose = (value) => this.choose({ kind: this.data.kinds[value] });
      const kinds = menu(words.kind, labels, place, choose);
      // The steps show both kinds of the decoder anyway.
      kinds.querySelector("select").disabled = this.view === "steps";
      parts.push(kinds);
    }
    if (layers > 1)
      parts.push(menu(words.layer, numbered(layers), this.layer, (layer) => this.choose({ layer })));
    if (heads > 1) parts.push(menu(words.head, numbered(heads), this.head, (head) => this.choose({ head })));
    const views = Object.assign(node("div", "views"), { role: "group", ariaLabel: words.view });
    const more = Object.fromEntries((data.more ?? []).map(({ name, label }) => [name, label]));
    for (const view of [...VIEWS, ...Object.keys(more)].filter((view) => this.places[view])) {
      const tab = button(more[view] ?? words[view], () => this.choose({ view }));
      tab.setAttribute("aria-pressed", view === this.view);
      views.append(tab, " ");
    }
    parts.push(views);
    const follow = () => this.switch(words.together, together, (on) => this.link(on));
    if (data.linked) parts.push(node("div", "together", follow()));
    // This line is always there, even when empty, so that pressing something above it moves nothing.
    const own = { heatmap: () => this.colours(), lines: () => [this.massSlider()] }[this.view];
    parts.push(node("div", "own", ...(own?.() ?? [])));
    replaceControls(this.controls, ...parts);
  }

  /** Switches for colours: a logarithmic scale and one up to the largest weight exclude each other. */
  colours() {
    const colour = (name, other) =>
      this.switch(this.words[name], this[name], (on) =>
        this.choose({ [name]: on, [other]: this[other] && !on }),
      );
    return [colour("logarithmic", "fitted"), colour("fitted", "logarithmic")];
  }

  switch(label, checked, act) {
    const box = Object.assign(node("input", ""), { type: "checkbox", checked });
    box.onchange = () => act(box.checked);
    return node("label", "", box, label);
  }

  link(on) {
    together = on;
    if (on) this.choose({});
    else linked.forEach((each) => each.drawControls());
  }

  massSlider() {
    const [min, max, step] = MASSES;
    const slider = Object.assign(node("input", ""), { type: "range", min, max, step });
    slider.value = 100 * this.mass;
    slider.onchange = () => this.choose({ mass: slider.valueAsNumber / 100 });
    return node("label", "", this.words.mass, slider);
  }

  /** The map that is open, named in words. */
  place(kind, layer = this.layer, head = this.head) {
    const { words } = this;
    if (kind.shape[0] * kind.shape[1] === 1) return words.place_only;
    if (layer === MEAN)
      return head === MEAN ? words.place_all : filled(words.place_mean_layers, { head: head + 1 });
    if (head === MEAN) return filled(words.place_mean, { layer: layer + 1 });
    return filled(words.place_head, { layer: layer + 1, head: head + 1 });
  }

  drawOverview() {
    const { kind, places } = this;
    places.overview.hidden = kind.shape[0] * kind.shape[1] === 1;
    if (places.overview.hidden) return;
    const { spec, ...rest } = kind.overview;
    const [tiles, ...others] = spec.data;
    kind.drawnOverview ??= JSON.stringify({ ...spec, data: [{ ...tiles, z: mosaicOf(kind) }, ...others] });
    const { accent } = kind.lines.colours;
    const frames = headsOf(kind, this.layer, this.head).map((place) => frame(spec, place, accent));
    window.components.plot({
      data: { ...rest, spec: kind.drawnOverview, frames, answers: true },
      parentElement: places.overview,
      setTriggerValue: (_, { custom: [layer, head] }) => this.choose({ layer, head }),
    });
  }

  drawMap() {
    const { kind } = this;
    const [, , rows, columns] = kind.shape;
    const { spec, ...rest } = kind.maps[this.logarithmic ? "logarithmic" : "linear"];
    const weights = mapOf(kind, this.layer, this.head);
    const drawnOn = this.fitted && !this.logarithmic ? fittedTo(spec.data[0], this.scale()) : spec.data[0];
    const heatmap = { ...drawnOn, z: spread("f4", weights, rows, columns) };
    const told = (row, column) => {
      if (kind.isPadded(row, column)) return kind.padded.told;
      return kind.isMasked(row, column, this.layer) ? kind.masked : "";
    };
    if (kind.masked || kind.padded.rows.length || kind.padded.columns.length)
      heatmap.text = upTo(rows).map((row) => upTo(columns).map((column) => told(row, column)));
    const label = `${kind.label} · ${this.place(kind)}`;
    const areas = spec.data.slice(1).map((area) => hatchedIn(this.layer, area, kind, heatmap));
    const drawn = JSON.stringify({ ...spec, data: [heatmap, ...areas] });
    window.components.plot({
      data: { ...rest, label, title: escaped(label), spec: drawn },
      parentElement: this.places.heatmap,
    });
  }

  /** The largest weight of the open map, and of the one beside it: linked pictures have one scale. */
  scale() {
    const beside = together && !this.data.difference ? linked.filter(({ data }) => !data.difference) : [];
    return Math.max(...[this, ...beside].map(({ kind, layer, head }) => largestOf(mapOf(kind, layer, head))));
  }

  /** A mean over heads, or over layers, is drawn as its parts, as far as they can be told apart. */
  drawLines() {
    const { kind } = this;
    const whole = this.layer === MEAN && this.head === MEAN;
    const heads = whole ? [[MEAN, MEAN]] : headsOf(kind, this.layer, this.head).slice(0, MOST_HEADS);
    const rows = (place) => strongestEdges(tokensOf(kind, ...place), kind.shape, this.mass);
    const padded = new Set(kind.padded.rows); // nothing reads their outputs
    const found = heads.map((place) => rows(place).map((edges, row) => (padded.has(row) ? [] : edges)));
    const drawn = thinned(found);
    const count = (rows) => rows.flat().reduce((sum, row) => sum + row.length, 0);
    const [kept, all] = [count(drawn), count(found)];
    const counts = { drawn: kept.toLocaleString(), hidden: (all - kept).toLocaleString() };
    const hidden = kept < all ? filled(this.words.hidden, counts) : "";
    const named = heads.map((place, i) => ({ name: this.place(kind, ...place), edges: drawn[i].flat() }));
    const label = heads.length === 1 ? `${kind.label} · ${named[0].name}` : kind.label;
    const lines = { ...kind.lines, label, heads: named, words: { ...kind.lines.words, hidden } };
    window.components.lines({ data: lines, parentElement: this.places.lines });
  }

  drawSteps() {
    const { data } = this;
    const [cross, own] = ["cross_attention", "decoder_attention"].map((name) =>
      data.kinds.find(({ kind }) => kind === name),
    );
    const units = (weights) =>
      base64(Uint16Array.from(weights, (weight) => Math.round(weight * data.steps.weight_unit)));
    const last = (kind, axis) => kind.shape[axis] - 1;
    const clip = (kind, one, axis) => (one === MEAN ? one : Math.min(one, last(kind, axis)));
    const within = (kind) => tokensOf(kind, clip(kind, this.layer, 0), clip(kind, this.head, 1));
    const steps = {
      ...data.steps,
      place: this.place(cross ?? own),
      cross: cross ? units(within(cross)) : null,
      self: own ? units(lowerTriangle(within(own), own.shape[2])) : null,
    };
    window.components.steps({ data: steps, parentElement: this.places.steps });
  }
}
