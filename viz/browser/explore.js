// All heads of one trace, and one map of them as a heatmap, as lines, or step by step. A page may add views of its own: `data.more`, of which
// each has a `name`, a `label`, and `draw(place, explorer)`.

const MEAN = "mean";
const VIEWS = ["heatmap", "lines", "steps"];

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".explore");
  root.explorer ??= new Explorer(root);
  return root.explorer.show(data);
}

class Explorer {
  constructor(root) {
    Object.assign(this, { root, layer: 0, head: 0, view: "heatmap", logarithmic: false, mass: USUAL_MASS / 100 });
    this.turn = 0;
  }

  /** Another trace keeps what is chosen. `data.kinds` hold `values`, or `weights` that explore.py packed. */
  async show(data) {
    const turn = (this.turn += 1);
    await Promise.all(
      data.kinds.map(async (kind) => {
        kind.values ??= await unpackedWeights(kind.weights, data.unit);
        const [rows, columns] = [new Set(kind.padded.rows), new Set(kind.padded.columns)];
        kind.isPadded = (row, column) => rows.has(row) || columns.has(column);
        delete kind.weights;
      })
    );
    if (turn !== this.turn) return; // a newer one came meanwhile
    const chosen = this.kind?.kind ?? data.first;
    const kind = data.kinds.find((each) => each.kind === chosen) ?? data.kinds[0];
    Object.assign(this, { data, words: data.words, kind });
    if (!this.places) this.build();
    this.note.textContent = data.words.note;
    this.choose({});
    this.root.dataset.ready = "yes";
  }

  build() {
    const { data } = this;
    const own = VIEWS.filter((view) => view !== "steps" || data.steps);
    const views = [...own, ...(data.more ?? []).map(({ name }) => name)];
    this.places = Object.fromEntries(["overview", ...views].map((name) => [name, node("div", name)]));
    const { overview, ...open } = this.places;
    this.controls = node("div", "controls");
    const looks = node("div", "looks", overview, node("div", "view", ...Object.values(open)));
    this.note = node("p", "note");
    if (data.name) this.root.append(node("h2", "", data.name));
    this.root.append(this.controls, looks, this.note);
  }

  /** Everything as it is chosen now. Only the open view is drawn. */
  draw() {
    this.drawControls();
    this.drawOverview();
    for (const [name, place] of Object.entries(this.places)) place.hidden = name !== "overview" && name !== this.view;
    const own = { heatmap: () => this.drawMap(), lines: () => this.drawLines(), steps: () => this.drawSteps() }[this.view];
    if (own) own();
    else this.data.more.find(({ name }) => name === this.view).draw(this.places[this.view], this);
  }

  /** Float32Array (Q * K) of the map that is open. */
  weights() {
    return mapOf(this.kind, this.layer, this.head);
  }

  choose(changed) {
    Object.assign(this, changed);
    if (this.view === "steps" && this.kind.kind === "encoder_attention") this.kind = this.data.kinds.at(-1);
    const [layers, heads] = this.kind.shape;
    if (this.layer !== MEAN) this.layer = Math.min(this.layer, layers - 1);
    if (this.head !== MEAN) this.head = Math.min(this.head, heads - 1);
    this.draw();
  }

  drawControls() {
    const { data, kind, words } = this;
    const [layers, heads] = kind.shape;
    const numbered = (count) => [[MEAN, words.mean], ...Array.from({ length: count }, (_, i) => [i, String(i + 1)])];
    const number = (value) => (value === MEAN ? MEAN : Number(value));
    const parts = [];
    if (data.kinds.length > 1) {
      const labels = data.kinds.map(({ label }, i) => [i, label]);
      const kinds = select(words.kind, labels, data.kinds.indexOf(kind), (value) => this.choose({ kind: data.kinds[value] }));
      kinds.querySelector("select").disabled = this.view === "steps"; // which show both kinds of the decoder
      parts.push(kinds);
    }
    if (layers > 1) parts.push(select(words.layer, numbered(layers), this.layer, (value) => this.choose({ layer: number(value) })));
    if (heads > 1) parts.push(select(words.head, numbered(heads), this.head, (value) => this.choose({ head: number(value) })));
    const views = node("div", "views");
    views.setAttribute("role", "group");
    views.setAttribute("aria-label", words.view);
    const named = [...VIEWS.map((view) => [view, words[view]]), ...(data.more ?? []).map(({ name, label }) => [name, label])];
    for (const [view, label] of named.filter(([view]) => this.places[view])) {
      const button = node("button", "", label);
      button.type = "button";
      button.onclick = () => this.choose({ view });
      button.setAttribute("aria-pressed", view === this.view);
      views.append(button, " ");
    }
    parts.push(views);
    // A line of its own, always there: what is pressed above moves nothing.
    const own = { heatmap: () => this.logarithmicSwitch(), lines: () => this.massSlider() }[this.view];
    parts.push(node("div", "own", ...(own ? [own()] : [])));
    const focused = [...this.controls.querySelectorAll("select, button, input")].indexOf(document.activeElement);
    this.controls.replaceChildren(...parts);
    if (focused >= 0) this.controls.querySelectorAll("select, button, input")[focused]?.focus({ preventScroll: true });
  }

  logarithmicSwitch() {
    const box = Object.assign(node("input", ""), { type: "checkbox", checked: this.logarithmic });
    box.onchange = () => this.choose({ logarithmic: box.checked });
    return node("label", "", box, this.words.logarithmic);
  }

  massSlider() {
    const [min, max, step] = MASSES;
    const slider = Object.assign(node("input", ""), { type: "range", min, max, step, value: 100 * this.mass });
    slider.onchange = () => this.choose({ mass: slider.valueAsNumber / 100 });
    return node("label", "", this.words.mass, slider);
  }

  /** The map that is open, named in words. */
  place(kind, layer = this.layer, head = this.head) {
    const { words } = this;
    if (kind.shape[0] * kind.shape[1] === 1) return words.place_only;
    if (layer === MEAN) return head === MEAN ? words.place_all : filled(words.place_mean_layers, { head: head + 1 });
    if (head === MEAN) return filled(words.place_mean, { layer: layer + 1 });
    return filled(words.place_head, { layer: layer + 1, head: head + 1 });
  }

  drawOverview() {
    const { kind, places } = this;
    places.overview.hidden = kind.shape[0] * kind.shape[1] === 1;
    if (places.overview.hidden) return;
    const { spec, ...rest } = kind.overview;
    kind.drawnOverview ??= JSON.stringify({ ...spec, data: [{ ...spec.data[0], z: mosaicOf(kind) }, ...spec.data.slice(1)] });
    const frames = headsOf(kind, this.layer, this.head).map((place) => frame(spec, place, kind.lines.colours.accent));
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
    const heatmap = { ...spec.data[0], z: spread("f4", weights, rows, columns) };
    const told = (row, column) => (kind.isPadded(row, column) ? kind.padded.told : column > row ? kind.masked : "");
    if (kind.masked || kind.padded.rows.length || kind.padded.columns.length)
      heatmap.text = Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => told(row, column)));
    const label = `${kind.label} · ${this.place(kind)}`;
    const drawn = JSON.stringify({ ...spec, data: [heatmap, ...spec.data.slice(1)] });
    window.components.plot({ data: { ...rest, label, title: escaped(label), spec: drawn }, parentElement: this.places.heatmap });
  }

  /** A mean over heads, or over layers, is drawn as its parts, as far as they can be told apart. */
  drawLines() {
    const { kind } = this;
    const whole = this.layer === MEAN && this.head === MEAN;
    const heads = whole ? [[MEAN, MEAN]] : headsOf(kind, this.layer, this.head).slice(0, MOST_HEADS);
    const rows = (layer, head) => strongestEdges(mapOf(kind, layer, head), kind.shape, this.mass);
    const padded = new Set(kind.padded.rows); // nobody reads what they compute
    const found = heads.map(([layer, head]) => rows(layer, head).map((edges, row) => (padded.has(row) ? [] : edges)));
    const drawn = thinned(found);
    const count = (rows) => rows.flat().reduce((sum, row) => sum + row.length, 0);
    const [kept, all] = [count(drawn), count(found)];
    const hidden = kept < all ? filled(this.words.hidden, { drawn: kept.toLocaleString(), hidden: (all - kept).toLocaleString() }) : "";
    const named = heads.map(([layer, head], i) => ({ name: this.place(kind, layer, head), edges: drawn[i].flat() }));
    const label = heads.length === 1 ? `${kind.label} · ${named[0].name}` : kind.label;
    const lines = { ...kind.lines, label, heads: named, words: { ...kind.lines.words, hidden } };
    window.components.lines({ data: lines, parentElement: this.places.lines });
  }

  drawSteps() {
    const { data } = this;
    const [cross, own] = ["cross_attention", "decoder_attention"].map((name) => data.kinds.find(({ kind }) => kind === name));
    const units = (weights) => base64(Uint16Array.from(weights, (weight) => Math.round(weight * data.steps.weight_unit)));
    const within = (kind) => mapOf(kind, ...[this.layer, this.head].map((one, axis) => (one === MEAN ? one : Math.min(one, kind.shape[axis] - 1))));
    const steps = {
      ...data.steps,
      place: this.place(cross ?? own),
      cross: cross ? units(within(cross)) : null,
      self: own ? units(lowerTriangle(within(own), own.shape[3])) : null,
    };
    window.components.steps({ data: steps, parentElement: this.places.steps });
  }
}

/** Float32Array of the weights that explore.py packed. */
async function unpackedWeights(text, unit) {
  const bytes = await window.unpacked(text);
  const count = bytes.length / 2;
  const values = new Float32Array(count);
  for (let i = 0; i < count; i += 1) values[i] = (bytes[i] + 256 * bytes[count + i]) / unit;
  return values;
}

/** [[layer, head], …] that a choice of layer and head stands for. */
function headsOf({ shape: [layers, heads] }, layer, head) {
  const each = (chosen, count) => (chosen === MEAN ? Array.from({ length: count }, (_, i) => i) : [chosen]);
  return each(layer, layers).flatMap((one) => each(head, heads).map((other) => [one, other]));
}

/** Float32Array (Q * K) of one head, or of the mean over those chosen. */
function mapOf(kind, layer, head) {
  const [, heads, rows, columns] = kind.shape;
  const size = rows * columns;
  const chosen = headsOf(kind, layer, head);
  const of = ([one, other]) => kind.values.subarray((one * heads + other) * size, (one * heads + other + 1) * size);
  if (chosen.length === 1) return of(chosen[0]);
  const sum = new Float32Array(size);
  for (const values of chosen.map(of)) for (let i = 0; i < size; i += 1) sum[i] += values[i] / chosen.length;
  return sum;
}

/** All heads as the bytes of one picture; where the tiles stand, the figure's markers say. */
function mosaicOf({ shape: [layers, heads, rows, columns], values, joined, masked, isPadded, overview: { spec } }) {
  const { x, y } = spec.data[1];
  const [high, wide] = [Math.ceil(rows / joined), Math.ceil(columns / joined)];
  const [left, top] = [x.map((middle) => Math.round(middle - (wide - 1) / 2)), y.map((middle) => Math.round(middle - (high - 1) / 2))];
  const [height, width] = [Math.max(...top) + high, Math.max(...left) + wide];
  const bytes = new Uint8Array(height * width).fill(NO_CELL);
  for (let tile = 0; tile < layers * heads; tile += 1)
    for (let row = 0; row < rows; row += 1) {
      const start = (top[tile] + Math.floor(row / joined)) * width + left[tile];
      const end = masked ? row + 1 : columns;
      for (let column = 0; column < end; column += 1) {
        if (isPadded(row, column)) continue;
        const at = start + Math.floor(column / joined);
        const byte = WEAKEST + Math.round(values[(tile * rows + row) * columns + column] * (STRONGEST - WEAKEST));
        if (byte > bytes[at]) bytes[at] = byte;
      }
    }
  return spread("u1", bytes, height, width);
}

/** A frame around a tile of the overview. */
function frame(spec, place, color) {
  const { x, y, customdata } = spec.data[1];
  const tile = customdata.findIndex((each) => String(each) === String(place));
  const [beside, above] = spec.layout.meta.half.map((half) => half + 0.5);
  return { type: "rect", x0: x[tile] - beside, x1: x[tile] + beside, y0: y[tile] - above, y1: y[tile] + above, line: { color, width: 3 } };
}

/** For each row the fewest [query, key, weight] that together carry `mass` of it, the strongest first; as edges.py. */
function strongestEdges(weights, [, , rows, columns], mass) {
  return Array.from({ length: rows }, (_, query) => {
    const row = weights.subarray(query * columns, (query + 1) * columns);
    const wanted = row.reduce((sum, weight) => sum + weight, 0) * mass - ROUNDING;
    const found = [];
    let before = 0;
    for (const key of Array.from(row.keys()).sort((one, other) => row[other] - row[one])) {
      if (before >= wanted || row[key] <= 0) break;
      found.push([query, key, Number(row[key].toFixed(DIGITS))]);
      before += row[key];
    }
    return found;
  });
}

/** At most MOST_LINES edges: each row of each head keeps as many of its strongest as the others may, as in lines.py. */
function thinned(heads) {
  const sizes = heads.flat().map((row) => row.length);
  let allowed = Math.max(...sizes);
  while (allowed > 1 && sizes.reduce((sum, size) => sum + Math.min(size, allowed), 0) > MOST_LINES) allowed -= 1;
  return heads.map((rows) => rows.map((row) => row.slice(0, allowed)));
}

function lowerTriangle(weights, columns) {
  return weights.filter((_, i) => i % columns <= Math.floor(i / columns));
}

/** Numbers as Plotly takes them without a list. */
function spread(dtype, values, rows, columns) {
  return { dtype, bdata: base64(values), shape: `${rows}, ${columns}` };
}

function base64(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}

function select(label, options, chosen, act) {
  const list = node("select", "");
  list.append(...options.map(([value, text]) => new Option(text, value, false, String(value) === String(chosen))));
  list.onchange = () => act(list.value);
  list.setAttribute("aria-label", label); // else its options would be part of its name
  return node("label", "", label, list);
}

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Plotly reads some HTML in a title. */
function escaped(text) {
  return text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
}

function node(tag, className, ...children) {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...children);
  return made;
}
