// `Plot`: a Plotly figure, redrawn in place when it changes; it reports the chosen cell.

const FORMATS = { png: PNG_SCALE, svg: 1 }; // format -> how many times the size on the screen it has
// Drawing a box and a double click do what the last five did.
const REMOVED = "toImage select2d lasso2d autoScale2d zoom2d pan2d zoomIn2d zoomOut2d resetScale2d";
const PAPER = 700; // pixels across a sheet of A4 between its margins
const TITLE = 40; // pixels above a saved picture for its title
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export default component("plot", () => Plot);

/** The library, fetched once; a page that stands alone brings it along. */
function library() {
  const fetched = async () => {
    if (!window.Plotly) await import(new URL(LIBRARY, document.baseURI));
    return window.Plotly;
  };
  return (window.attentionPlotly ??= fetched());
}
library();

class Plot {
  constructor(root) {
    this.root = root;
    this.cells = root.appendChild(node("canvas", "cells"));
    this.asTable = root.appendChild(tableButton(this));
    this.canvas = root.appendChild(node("div", "canvas"));
    this.frame = node("div", "cursor");
    this.told = root.appendChild(Object.assign(node("div", "told"), { ariaLive: "polite" }));
    this.turn = 0;
    this.cursor = null;
    Object.assign(this.canvas, { tabIndex: 0, role: "application" });
    this.canvas.onkeydown = (event) => this.key(event);
    this.canvas.onblur = () => this.point(null);
    // A finger scrolls the page; a tap arrives as the click that browsers make of it. Only an enlarged figure
    // is moved.
    const guard = (event) =>
      event.target.closest?.(".nsewdrag") && !this.isEnlarged() && event.stopImmediatePropagation();
    this.canvas.addEventListener("touchstart", guard, { capture: true, passive: true });
    // Plotly looks for the place under the mouse at most every 50 ms, for a click, too: one that follows a move
    // at once would choose the place before it.
    const forget = (event) => this.listens && window.Plotly.Fx.unhover(this.canvas, event);
    this.canvas.addEventListener("mousedown", forget, { capture: true });
  }

  show(data, { setTriggerValue }) {
    this.trigger = setTriggerValue;
    const drawn = this.figure;
    if (data.spec !== this.data?.spec || data.file !== this.data?.file || data.ground !== this.data?.ground) {
      this.data = data;
      this.figure = JSON.parse(data.spec);
      this.canvas.setAttribute("aria-label", data.label);
      this.asTable.textContent = data.words.table;
      this.drawnFor = null;
    }
    if (data.frames) this.figure.layout.shapes = data.frames;
    if (this.figure !== drawn) this.resize();
    else if (data.frames) this.reframe();
    this.leave();
    this.unwatch = watchRoom(this.root, () => this.resize());
  }

  leave() {
    this.unwatch?.();
  }

  resize() {
    const width = this.root.clientWidth;
    if (!width || matchMedia("print").matches) return; // on paper the picture is zoomed (plot.css)
    const size = `${width} ${Math.round(this.room())} ${enlargement()}`;
    if (size === this.drawnFor) return;
    this.drawnFor = size;
    this.draw(width);
  }

  room() {
    return roomBelow(this.root, this.figure.layout.meta);
  }

  /** Plotly draws in pieces: a figure that arrives meanwhile waits, and only the latest one is drawn. */
  async draw(width) {
    const turn = (this.turn += 1);
    const at = fitted(this.figure, width, this.room());
    // Before the library is there, so that nothing moves when it comes.
    this.root.style.height = `${at.height}px`;
    this.root.style.setProperty("--paper", Math.min(1, PAPER / width));
    const Plotly = await library();
    await painted(); // other content that came with the figure, such as the corrected text, is shown first
    await this.busy;
    if (turn !== this.turn || !this.root.isConnected) return;
    this.at = at;
    this.root.classList.toggle("answering", Boolean(this.data.answers && this.trigger));
    this.forgetAnotherForm(Plotly, at.figure);
    this.forgetOtherRanges(at.figure.layout);
    // Else Plotly draws labels and legend twice: for the margins before, and for these.
    if (at.figure.layout.margin?.autoexpand === false) delete this.canvas._fullLayout?._size;
    this.busy = Plotly.react(this.canvas, leftToPlotly(at.figure), at.figure.layout, this.newConfig());
    await this.busy;
    const mosaic = paintedTrace(at.figure);
    this.cells.hidden = !mosaic;
    if (mosaic) paintCells(this.cells, mosaic, this.canvas._fullLayout);
    if (!this.listens) {
      this.listens = true;
      this.canvas.on("plotly_click", (event) => this.choose(event));
      this.canvas.on("plotly_hover", () => setMinus(this.canvas.querySelector(".hoverlayer")));
    }
    if (this.cursor) this.point(this.cursor);
    this.asTable.hidden = !(this.stops()?.columns > 1); // bars that are pressed are no table
    this.root.dataset.drawn = String(turn);
  }

  /** When an upright colour bar is laid across, Plotly keeps its old labels, so the figure is built anew. */
  forgetAnotherForm(Plotly, { data }) {
    const form = JSON.stringify(data.map((trace) => (trace.colorbar ?? trace.marker?.colorbar)?.orientation));
    if (this.form && this.form !== form) {
      Plotly.purge(this.canvas);
      this.listens = false;
      this.configured = null;
    }
    this.form = form;
  }

  /** Plotly remembers the first range of axes with square cells, and would fit any later one into it. */
  forgetOtherRanges({ xaxis, yaxis }) {
    const ranges = JSON.stringify([xaxis?.range, yaxis?.range]);
    if (this.ranges === ranges) return;
    this.ranges = ranges;
    for (const name of ["xaxis", "yaxis"]) delete this.canvas._fullLayout?.[name]?._inputRange;
  }

  /** Other frames over the same picture; drawing that again would take much longer. */
  async reframe() {
    await this.busy;
    if (this.listens && this.drawnFor)
      this.busy = window.Plotly.relayout(this.canvas, { shapes: this.figure.layout.shapes });
  }

  /** Buttons and words, only where they are new: Plotly would build the whole figure anew for them. */
  newConfig() {
    const { words } = this.data;
    const { still } = this.figure.layout.meta ?? {};
    const bare = still && inLecture(); // its tiles take the room of the buttons
    const text = JSON.stringify([words, still, bare]);
    if (text === this.configured) return undefined;
    this.configured = text;
    const buttons = Object.keys(FORMATS).map((format) => ({
      name: format,
      title: words[format],
      icon: { svg: signOf(format.toUpperCase()) },
      click: () => this.save(format),
    }));
    return {
      ...(bare && { displayModeBar: false }),
      displaylogo: false,
      scrollZoom: false,
      showSendToCloud: false, // would offer to upload the chart, with the typed text
      modeBarButtonsToRemove: REMOVED.split(" "),
      modeBarButtonsToAdd: buttons,
      locale: "page",
      locales: { page: { dictionary: words.plotly, format: {} } },
    };
  }

  isEnlarged() {
    const { range, _rangeInitial0: start, _rangeInitial1: end } = this.canvas._fullLayout.xaxis;
    return Math.abs(range[1] - range[0]) < 0.99 * Math.abs(end - start);
  }

  // --- choosing ---

  choose({ points }) {
    const [{ x, y, customdata, data }] = points;
    this.tell(data.type === "heatmap" ? { x, y } : { custom: customdata });
  }

  /** Where clicks mean something, the app hears of them; in a page that stands alone they lead nowhere. */
  tell(point) {
    if (this.data.answers && this.trigger) this.trigger("click", point);
  }

  /** Places that the arrow keys reach: tiles where the figure has such, else the cells of its map. */
  stops() {
    const { _fullData: traces } = this.canvas;
    const { meta } = this.figure.layout;
    const tiles = traces?.find(
      (trace) => trace.customdata && trace.type === "scatter" && (meta?.across || isMosaic(trace)),
    );
    if (tiles) {
      const { half = [0.5, 0.5] } = meta ?? {};
      const grid = meta?.across ? listed(tiles, meta.across) : placed(tiles);
      return {
        ...grid,
        side: (row) => String(row + 1),
        at: (row, column) => {
          const number = grid.number(row, column);
          if (!(number in tiles.x)) return null;
          const text = plain(tiles.text[number]);
          const point = { custom: tiles.customdata[number] };
          return { x: tiles.x[number], y: tiles.y[number], half, text, value: text, point };
        },
      };
    }
    const map = traces?.find((trace) => trace.type === "heatmap");
    if (!map?.z?.length) return null;
    const [x0, y0] = [map.x0 ?? 0, map.y0 ?? 0];
    const { names = ["", "", ""], digits = 3 } = this.figure.layout.meta ?? {};
    // Every place has its label on an invisible second axis, where the first one has no room for all.
    const label = (name, place, start) => {
      const { [`${name}2`]: hidden, [name]: shown } = this.canvas._fullLayout;
      const { tickvals, ticktext } = hidden?.ticktext ? hidden : shown;
      return plain(ticktext?.[Array.from(tickvals ?? []).indexOf(place + start)] ?? String(place + 1));
    };
    const [side, head] = [(row) => label("yaxis", row, y0), (column) => label("xaxis", column, x0)];
    const mark = (row, column) => map.text?.[row]?.[column] || "";
    const number = (row, column) => Number(map.z[row][column]).toFixed(digits);
    return {
      rows: map.z.length,
      columns: map.z[0].length,
      at: (row, column) => ({
        x: column + x0,
        y: row + y0,
        half: [0.5, 0.5],
        point: { x: column + x0, y: row + y0 },
        text:
          `${names[0]} ${side(row)}, ${names[1]} ${head(column)}: ` +
          `${mark(row, column)} ${names[2]} ${number(row, column)}`,
        value: `${isNaN(mark(row, column)) ? mark(row, column) : ""} ${number(row, column)}`.trim(),
      }),
      head,
      side,
    };
  }

  /** The figure for plot_table.js. */
  table() {
    const { rows, columns, at, side, head } = this.stops();
    const named = upTo(rows).filter(side); // a gap between two parts has no name
    return {
      label: this.data.label,
      head: upTo(columns).map(head),
      rows: named.map((row) => [side(row), ...upTo(columns).map((column) => at(row, column)?.value ?? "")]),
    };
  }

  key(event) {
    const stops = isPlainKey(event) && this.stops();
    if (!stops) return;
    if (event.key in MOVES || event.key === "Home" || event.key === "End") {
      const [row, column] = this.cursor ?? [0, 0];
      const [down, right] = MOVES[event.key] ?? [0, event.key === "Home" ? -Infinity : Infinity];
      const within = (place, count) => Math.min(Math.max(place, 0), count - 1);
      const next = [within(row + down, stops.rows), within(column + right, stops.columns)];
      this.point(this.cursor ? next : [0, 0]);
    } else if ((event.key === "Enter" || event.key === " ") && this.cursor) {
      this.tell(stops.at(...this.cursor).point);
    } else if (event.key === "Escape" && this.cursor) {
      this.point(null);
    } else return;
    consume(event);
  }

  /** Frame a place and announce its value. */
  point(place) {
    const stops = place && this.stops();
    const found =
      stops && stops.at(Math.min(place[0], stops.rows - 1), Math.min(place[1], stops.columns - 1));
    this.cursor = found ? place : null;
    if (!found) {
      this.frame.remove();
      this.told.textContent = "";
      return;
    }
    const { xaxis, yaxis } = this.canvas._fullLayout;
    const [wide, high] = found.half;
    const [left, right] = [found.x - wide, found.x + wide].map((x) => xaxis._offset + xaxis.l2p(x));
    const [top, bottom] = [found.y - high, found.y + high].map((y) => yaxis._offset + yaxis.l2p(y));
    Object.assign(this.frame.style, {
      left: `${left}px`,
      top: `${Math.min(top, bottom)}px`,
      width: `${right - left}px`,
      height: `${Math.abs(bottom - top)}px`,
    });
    this.root.append(this.frame);
    this.told.textContent = found.text;
  }

  // --- saving ---

  /** The picture with its ground and its title. */
  async save(format) {
    const Plotly = await library();
    const { width, height } = this.canvas._fullLayout;
    const layout = { ...this.canvas.layout, paper_bgcolor: this.data.ground };
    const above = this.data.title ? TITLE : 0;
    if (above) {
      layout.margin = { ...layout.margin, t: (layout.margin?.t ?? 80) + above };
      layout.height = height + above;
      const place = { x: 0.01, xanchor: "left", y: 1 - TITLE / 2 / layout.height, yref: "container" };
      layout.title = { ...place, yanchor: "middle", text: this.data.title, font: { size: 15 } };
    }
    return Plotly.downloadImage(
      { data: this.at.figure.data, layout, config: { staticPlot: true } },
      { format, width, height: height + above, scale: FORMATS[format], filename: this.data.file },
    );
  }
}

/** The icon of a button that shows its name. */
function signOf(name) {
  const style =
    'x="15" y="15" text-anchor="middle" font-size="12" font-weight="700" font-family="sans-serif"';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"><text ${style}>${name}</text></svg>`;
}

/** Whether a trace has the invisible squares of a mosaic of heads (head_mosaic.py). */
function isMosaic({ marker }) {
  return marker?.symbol === "square" && marker.opacity === 0;
}

/** Tiles that are listed line by line. */
const listed = ({ x }, across) => ({
  rows: Math.ceil(x.length / across),
  columns: across,
  head: (column) => String(column + 1),
  number: (row, column) => row * across + column,
});

/** The squares of a mosaic, a row for each layer as in the picture: they are listed kind by kind. */
function placed({ x, y, text, customdata }) {
  const sorted = (places) => [...new Set(places)].sort((one, other) => one - other);
  const [across, down] = [sorted(x), sorted(y)];
  const numbers = new Map(Array.from(x, (place, number) => [`${place} ${y[number]}`, number]));
  const number = (row, column) => numbers.get(`${across[column]} ${down[row]}`);
  const head = (column) => {
    const first = Array.from(x).indexOf(across[column]);
    const [kind, , place] = [customdata[first]].flat();
    return typeof kind === "string"
      ? `${plain(text[first].split(/ [\d·]+<br>/)[0])} ${place + 1}`
      : `${column + 1}`;
  };
  return { rows: down.length, columns: across.length, head, number };
}

/** After the browser has painted the page. */
function painted() {
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

/** Plotly's hovers write a hyphen where its axes have a minus. */
function setMinus(hovers) {
  for (const text of hovers.querySelectorAll("text, tspan"))
    for (const node of text.childNodes)
      if (node.nodeType === Node.TEXT_NODE) node.data = node.data.replace(/^-(?=[\d.])/, "−");
}

/** A label as it is read: Plotly's own marks taken away. */
function plain(label) {
  return new DOMParser().parseFromString(String(label).replaceAll("<br>", " "), "text/html").body.textContent;
}
