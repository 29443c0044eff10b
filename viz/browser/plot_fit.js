// Layout of a figure fitted to the window: sizes and places in pixels. plot.py puts this text before plot.js.
//
// A figure says in layout.meta.fit how it may be fitted to the window:
//   "cells"  a map whose cells are squares. One cell has the same size for all maps of a sentence and for
//            sentences of about the same length, so that pictures can be compared and nothing jumps while
//            one types.
//   "box"    a picture that fills the room it is given.
//   "fill"   one as high as the room below it, but at least `least` pixels and at most the height it was
//            made with. With `low` it takes the little room left below other pictures, and has a margin for
//            Plotly's buttons only where they stay.
// A figure without it keeps the height that it was made with. One that says in layout.meta.tokens how many
// tokens lie along its x axis has none of them wider than its column. In layout.meta.lines a table of numbers
// says in how many lines its column labels stand.

// Tokens; a cell gets smaller only from one step to the next.
const STEPS = [9, 17, 25, 33, 41, 49, 65, 97, 129];
const LEAST_CELL = 11; // pixels: smaller ones could not carry a label
const LEAST_LECTURE_CELL = 8; // pixels: here labels stand in two lines
const LARGEST_CELL = 40;
const LEAST_BOX = 240; // pixels, of a map on a very low window
const FOOT = 6; // pixels below the cells
const KEY_WIDTH = 190; // of the colour bar and the legend to the right of the cells, at least
const KEY_TYPE = 12.5; // of the legend's names
const KEY_SIGN = 56; // beside a name of the legend, for its sign and the gaps
const KEY_HEIGHT = 84; // of the same below the cells
const BAR = 150; // pixels that the colour bar is long
const BAR_BELOW = 220; // the same below the cells, where its name stands beside it
// Pixels above a narrow picture for Plotly's buttons, which would lie over the names of its columns.
const TOOLBAR = 34;
// Pixels of a label where the page's type has its usual size; 24 in a lecture at 1920.
const LECTURE_TYPE = 16;
const FIGURE_TYPE = 13; // pixels of a figure's labels, as theme.py has them
const LEGEND_ROW = 2; // ems from one row of such a legend to the next
const LEGEND_SIGN = 42; // pixels beside a name that Plotly takes for its sign and the gaps
const NAMES_APART = 0.4; // ems
const BESIDE_A_MARK = 0.6; // ems from the middle of a label to the mark beside it
const ROW_LABEL = 8; // pixels that Plotly keeps beside the labels of rows
const PHONE = 640; // pixels: narrower windows are scrolled through, picture after picture

/** Whether Plotly's buttons are seen all the time, as where a finger points. */
function buttonsStay() {
  return window.innerWidth < PHONE || window.matchMedia("(hover: none)").matches;
}

/** {figure, width, height} as drawn in `width` pixels, with `room` pixels down to the window's edge. */
function fitted(figure, width, room) {
  const fit = figure.layout.meta?.fit;
  if (fit === "cells") return fittedCells(figure, width, room);
  const larger = withMarksApart(withNarrowTokens(enlarged(figure), width), width);
  if (fit === "box") return fittedTiles(larger, width, room);
  if (fit === "fill") {
    const { meta, margin, height } = larger.layout;
    const buttons = meta.low && buttonsStay() ? TOOLBAR : 0;
    const high = Math.max(meta.least, Math.min(room, height));
    const panels = withRowsBelow(withNotesBelowNames(larger, width, high), width);
    const placed = merged(panels, { layout: { margin: { t: margin.t + buttons } } });
    return resized(placed, width, high + buttons);
  }
  const placed = withNamesInside(withRoomForLegend(larger, width), width);
  return resized(placed, width, placed.layout.height ?? 360);
}

const namesInLegend = ({ data }) => data.filter(({ name, showlegend }) => name && showlegend !== false);

/** A legend below a picture that is too narrow for one row has a row for each name. */
function withRowsBelow(figure, width) {
  const { legend, margin, font } = figure.layout;
  if (legend?.yref !== "container" || legend.y !== 0) return figure;
  const names = namesInLegend(figure);
  const type = sized(FIGURE_TYPE);
  const long = names.reduce((sum, { name }) => sum + LEGEND_SIGN + pixels(name, font.family, type), 0);
  const more = long > width - margin.l - margin.r ? (names.length - 1) * LEGEND_ROW * type : 0;
  return merged(figure, { layout: { margin: { b: margin.b + more } } });
}

/**
 * A legend in columns grows upwards. Where a narrow picture breaks it into more rows than there is room for,
 * it has more room above.
 */
function withRoomForLegend(figure, width) {
  const { legend, margin, height, font } = figure.layout;
  if (!legend?.entrywidth) return figure;
  const names = namesInLegend(figure);
  const wide = names.map(({ name }) => pixels(name, font.family, legend.font.size));
  const entrywidth = Math.max(legend.entrywidth, ...wide);
  const columns = Math.max(1, Math.floor((width - margin.l - margin.r) / (entrywidth + LEGEND_SIGN)));
  const room = (1 - legend.y) * height;
  const rows = Math.ceil(names.length / columns) * Math.max(19, 1.5 * legend.font.size);
  const more = Math.max(0, rows + 10 - room);
  const high = height + more;
  const placed = { entrywidth, y: 1 - (room + more) / high };
  return merged(figure, { layout: { height: high, margin: { t: margin.t + more }, legend: placed } });
}

/**
 * Names over the middle of their columns, from left to right; one moves to the left where it would end
 * outside of the picture, or in the next one.
 */
function withNamesInside(figure, width) {
  const { annotations, margin, xaxis, font } = figure.layout;
  if (!annotations || !xaxis?.range) return figure;
  const [start, end] = xaxis.range;
  let most = width - 2; // where a name may end
  const inside = (name) => {
    if (name.xanchor !== "center" || name.xref) return name;
    const middle = margin.l + ((name.x - start) / (end - start)) * (width - margin.l - margin.r);
    const wide = pixels(name.text, font.family, name.font.size);
    const xshift = Math.min(0, most - middle - wide / 2);
    most = middle + xshift - wide / 2 - NAMES_APART * name.font.size;
    return { ...name, xshift };
  };
  const placed = annotations.reduceRight((done, name) => [inside(name), ...done], []);
  return merged(figure, { layout: { annotations: placed } });
}

/**
 * Panels whose names, with the notes beside them, are wider than the picture: the notes stand below the
 * names, and the bars are lower by a line.
 */
function withNotesBelowNames(figure, width, height) {
  const { layout } = figure;
  const { l, t, b } = layout.margin;
  const noted = /^(<b>.*<\/b>) {2}(?=<span)/;
  const isNoted = ({ text, yanchor }) => yanchor === "bottom" && noted.test(text);
  const names = (layout.annotations ?? []).filter(isNoted);
  if (!names.some(({ text, font }) => l + font.size * ems(written(text)) > width)) return figure;
  const line = (1.3 * names[0].font.size) / (height - t - b); // as a share of the room of all panels
  const axes = Object.entries(layout).filter(([name]) => /^yaxis/.test(name));
  const lower = axes.map(([name, { domain }]) => [name, { domain: [domain[0], domain[1] - line] }]);
  const annotations = layout.annotations.map((each) => ({
    ...each,
    y: each.y - line,
    text: isNoted(each) ? each.text.replace(noted, "$1<br>") : each.text,
    align: "left",
  }));
  return merged(figure, { layout: { ...Object.fromEntries(lower), annotations } });
}

function resized(figure, width, height) {
  return { figure: merged(figure, { layout: { width, height, autosize: false } }), width, height };
}

/** Larger type in lecture mode. Height and margins grow with it, so that everything still fits. */
function enlarged(figure) {
  const factor = 1 + (enlargement() - 1) * 0.8;
  if (!inLecture() && factor === 1) return figure;
  const type = sized(FIGURE_TYPE) / FIGURE_TYPE;
  // Of names and legends, above and below the picture.
  const lines = figure.layout.meta?.fit === "box" ? factor : type;
  const { margin = {}, height = 360, annotations, legend, meta } = figure.layout;
  const high = (pixels) => pixels * factor + ((margin.t ?? 0) + (margin.b ?? 0)) * (lines - factor);
  const withLargerType = (trace) => ({
    ...trace,
    ...(trace.colorbar && { colorbar: largerFonts(trace.colorbar, factor) }),
    ...((trace.textfont || trace.type === "bar") && {
      textfont: largerFonts({ size: FIGURE_TYPE, ...trace.textfont }, factor, true),
    }),
    ...(trace.type === "bar" && { constraintext: "none" }), // else a number gets as small as its bar is thin
  });
  const layout = largerFonts(figure.layout, factor);
  const growth = (side) => (side === "r" || (side === "l" && meta?.fit === "box") ? factor : lines);
  const sides = Object.entries(margin).map(([side, pixels]) => [side, pixels * growth(side)]);
  const changed = { margin: Object.fromEntries(sides), height: high(height) };
  if (annotations)
    changed.annotations = layout.annotations.map((each) => ({ ...each, yshift: (each.yshift ?? 0) * type }));
  if (legend?.entrywidth) changed.legend = { entrywidth: legend.entrywidth * type };
  if (meta?.low || meta?.across) changed.meta = { least: high(meta.least) }; // or names of rows overlap
  return { ...figure, data: figure.data.map(withLargerType), layout: merged(layout, changed) };
}

/** The size of a label of `pixels`, in a lecture at least LECTURE_TYPE, with the page's enlargement. */
function sized(pixels) {
  return Math.max(pixels, inLecture() ? LECTURE_TYPE : 0) * enlargement();
}

function largerFonts(part, factor, inFont = false) {
  if (Array.isArray(part)) return part.map((each) => largerFonts(each, factor));
  if (part === null || typeof part !== "object") return part;
  const larger = {};
  for (const [name, value] of Object.entries(part))
    if (inFont && name === "size") larger[name] = Math.max(value * factor, sized(value));
    else larger[name] = largerFonts(value, factor, name.endsWith("font"));
  return larger;
}

function fittedCells(figure, width, room) {
  const { rows, columns, extent } = figure.layout.meta;
  const { xaxis2, yaxis2, xaxis } = figure.layout;
  const upright = xaxis.tickangle === 0;
  // The map keeps its place when the marks are hidden.
  const [rowEm, columnEm] = [widestLabel(yaxis2, ems("</s>")), widestLabel(xaxis2)];
  const larger = enlargement();
  const lecture = inLecture();
  const name = 21 * larger; // pixels of an axis's name
  // A lecture has no typing: a map takes all the room there is.
  const capacity = lecture ? extent : (STEPS.find((step) => step >= extent) ?? extent);
  const narrow = width < 520;
  const toolbar = narrow ? TOOLBAR : 0;
  const measure = (cell) => {
    // A lecture's labels never get smaller. Where they are higher than a cell they stand in two lines, as on
    // a ruler.
    const font = lecture ? sized(15) : Math.max(9, Math.min(sized(15), 0.74 * cell));
    const lines = lecture && font > 1.04 * cell ? 2 : 1;
    const left = name + (rowEm + lines - 1) * font + 4;
    const top = toolbar + name + (upright ? 1.45 + 1.3 * (lines - 1) : columnEm) * font + 4;
    return { font, left, top, lines };
  };
  const most = narrow ? Infinity : Math.max(room, LEAST_BOX);
  /** The largest cell where the colour bar and the legend take so much of the width and of the height. */
  const largest = (keyWidth, keyHeight) => {
    // The labels depend on the cell and the cell on the rest of the room: three rounds settle it.
    let cell = 20;
    for (let round = 0; round < 3; round += 1) {
      const { left, top } = measure(cell);
      const across = (width - left - keyWidth) / capacity;
      const down = (most - top - keyHeight - FOOT) / capacity;
      cell = Math.min(across, down, LARGEST_CELL * larger);
    }
    return Math.max(lecture ? LEAST_LECTURE_CELL : LEAST_CELL, Math.floor(cell * 4) / 4);
  };
  const keyHeight = KEY_HEIGHT * larger;
  const family = figure.layout.font?.family ?? "sans-serif";
  const names = figure.data.filter((trace) => trace.showlegend).map(({ name }) => inTwoRows(name, family));
  const keyWidth = Math.max(KEY_WIDTH, ...names.map((name) => KEY_SIGN + pixels(name, family)));
  const [besideKey, aboveKey] = [largest(keyWidth, 0), largest(lecture ? 1.6 * sized(15) : 4, keyHeight)];
  const fits = measure(besideKey).left + besideKey * capacity + keyWidth <= width;
  const beside = !narrow && fits && besideKey >= aboveKey; // two maps side by side are high rather than wide
  const cell = beside ? besideKey : aboveKey;
  const { font, left, top, lines } = measure(cell);
  const [across, down] = [cell * columns, cell * rows];
  const drawnWidth = Math.max(width, left + across + (beside ? keyWidth : 4));
  const whole = top + cell * Math.max(rows, extent) + (beside ? 0 : keyHeight) + FOOT;
  // The box keeps its height for any content; only a longer sentence makes it taller than the window.
  const height = narrow ? whole : Math.max(most, whole);
  const fit = { font, cell, lines, room: [left, drawnWidth - left - across], family };
  const indented = (label) => `${label}\u3000`;
  const { legend, annotations = [], yaxis } = figure.layout;
  const layout = {
    ...figure.layout,
    width: drawnWidth,
    height,
    autosize: false,
    margin: { l: left, t: top, r: drawnWidth - left - across, b: height - top - down, autoexpand: false },
    xaxis: axis({ ...xaxis, ...labels(xaxis2, upright, fit) }, font),
    yaxis: axis({ ...yaxis, ...inLines(yaxis, lines, cell, font, indented) }, font),
    annotations: [...annotations, ...axisNames(figure.layout, left - name, top - toolbar - name)],
    legend: { ...legend, ...keyPlace(beside, across, down, cell * extent), font: { size: sized(KEY_TYPE) } },
  };
  const bar = barPlace(beside, across, down, larger, cell * extent);
  const named = (trace) =>
    beside && trace.showlegend ? { ...trace, name: inTwoRows(trace.name, family) } : trace;
  const data = figure.data.map((trace) => withBar(named(trace), bar, cell));
  return { figure: { ...figure, data, layout }, width: drawnWidth, height, cell };
}

/** A name of the legend in two rows where it is long for the room beside the cells: its bracket is below. */
function inTwoRows(name, family) {
  return KEY_SIGN + pixels(name, family) > KEY_WIDTH ? name.replace(" (", "<br>(") : name;
}

/** How wide the longest row of a name of the legend is drawn. */
function pixels(name, family, size = sized(KEY_TYPE)) {
  const pen = (pixels.pen ??= document.createElement("canvas").getContext("2d"));
  pen.font = `${size}px ${family}`;
  return Math.max(...name.split("<br>").map((row) => pen.measureText(row).width));
}

/** A label for every column in `fit.lines` lines, with `fit.room` pixels left and right of the map. */
function labels(axis, upright, fit) {
  const { cell, font, lines } = fit;
  if (!upright) return { ...inLines(axis, Math.min(lines, 1.5), cell, font), tickangle: -90 };
  const narrow = { ...axis, ticktext: withinColumns(axis.ticktext, fit) };
  return { ...inLines(narrow, lines, cell, font, (label) => `${label}<br>\u3000`), tickangle: 0 };
}

/** Whether a label is a mark such as the end mark, and no character of a text. */
function isMark(label) {
  return label.replace(/<[^>]*>|\s/g, "").startsWith("&lt;");
}

/**
 * Labels above columns of `cell` pixels, none wider than its place between its neighbours on the same line.
 * From the last row nothing smaller is read, so in a lecture the marks at both ends stand outside the map,
 * where nothing is in their way.
 */
function withinColumns(ticktext, { font, cell, lines, room, family }) {
  const isOutside = (label, i) => inLecture() && isMark(label) && (!i || i === ticktext.length - 1);
  return ticktext.map((label, i) => {
    if (!isOutside(label, i)) return narrowed(label, font, lines * cell);
    // From the middle of its column to the label of its neighbour.
    const free = lines * cell - BESIDE_A_MARK * font;
    const most = Math.min(2 * lines * cell, free + cell / 2 + room[i ? 1 : 0]);
    const mark = narrowed(label, font, most);
    const over = Math.min(font * ems(written(label)), most) / 2 - free;
    if (over <= 0) return mark;
    // Half of them push to each side.
    const spaces = "\u00a0".repeat(Math.ceil((2 * over) / pixels("\u00a0", family, font)));
    return i ? `${spaces}${mark}` : `${mark}${spaces}`;
  });
}

/**
 * The labels of an axis in as many lines: every second is `moved` to the outer one, where the last belongs.
 * Labels without room are left out evenly.
 */
function inLines({ tickvals, ticktext }, lines, cell, font, moved = (label) => label) {
  if (lines === 1 || !(ticktext?.length > 1)) return { tickvals, ticktext };
  const values = Array.from(tickvals);
  const between = (Math.abs(values.at(-1) - values[0]) / (values.length - 1)) * cell;
  const step = Math.ceil((0.92 * font) / (Math.floor(lines) * between));
  const kept = (all) => Array.from(all).filter((_, i) => (ticktext.length - 1 - i) % step === 0);
  const [shown, places] = [kept(ticktext), kept(values)];
  const outer = (i) => lines === 2 && (shown.length - 1 - i) % 2 === 0;
  return { tickvals: places, ticktext: shown.map((label, i) => (outer(i) ? moved(label) : label)) };
}

/** The characters of a label. */
function written(label) {
  const text = label.replace(/<[^>]*>/g, "").trim();
  return [...text.replace(/&[^;]+;/g, "x")];
}

/** Ems of the widest label of an axis, at least `least`. */
function widestLabel({ ticktext }, least = 0) {
  return Number(Math.max(least, ...ticktext.map((label) => ems(written(label)))).toFixed(1));
}

/** A label of several characters in smaller type where it would be wider than its `cell`. */
function narrowed(label, font, cell) {
  const characters = written(label);
  const wide = font * ems(characters);
  return characters.length > 1 && wide > cell
    ? `<span style="font-size:${Math.max(7, (font * cell) / wide)}px">${label}</span>`
    : label;
}

/** `figure` with the labels of its x axis, and the texts of its cells, no wider than a token's column. */
function withNarrowTokens(figure, width) {
  const { xaxis, margin, meta, font } = figure.layout;
  if (!meta?.tokens) return figure;
  const cell = (width - margin.l - margin.r) / meta.tokens;
  const fitting = (type) => ({ ...type, size: Math.max(7, Math.min(type.size, 0.95 * cell)) });
  const inCells = (trace) => {
    if (trace.type !== "heatmap" || !trace.text) return trace;
    const textfont = fitting(trace.textfont);
    const most = inLecture() ? 1.14 * cell : cell;
    const text = trace.text.map((row) => row.map((label) => narrowed(label, textfont.size, most)));
    return { ...trace, textfont, text };
  };
  const data = figure.data.map(inCells);
  if (!xaxis.ticktext) return { ...figure, data };
  const tickfont = fitting(xaxis.tickfont);
  const room = [margin.l, margin.r];
  const place = { font: tickfont.size, cell, lines: 1, room, family: font.family };
  const ticktext = withinColumns(xaxis.ticktext, place);
  return merged(figure, { data, layout: { xaxis: { tickfont, ticktext } } });
}

/**
 * A table of numbers whose marks, such as <s>, keep off the labels beside them (`withinColumns`). Its labels
 * stand in `meta.lines` lines.
 */
function withMarksApart(figure, width) {
  const { xaxis, yaxis, margin, meta, font } = figure.layout;
  if (!meta?.lines) return figure;
  const wide = (label) => pixels(written(label).join(""), font.family, yaxis.tickfont.size) + ROW_LABEL;
  const left = Math.max(margin.l, ...yaxis.ticktext.map(wide));
  const cell = (width - left - margin.r) / (xaxis.range[1] - xaxis.range[0]);
  const [type, room] = [xaxis.tickfont.size, [left, margin.r]];
  const place = { font: type, cell, lines: meta.lines, room, family: font.family };
  const placed = withinColumns(xaxis.ticktext, place);
  const ticktext = xaxis.ticktext.map((label, i) => (isMark(label) ? placed[i] : label));
  return merged(figure, { layout: { xaxis: { ticktext } } });
}

const FREE = { automargin: false, scaleanchor: undefined, scaleratio: undefined, constrain: undefined };

function axis(given, font) {
  return { ...given, ...FREE, title: { text: "" }, tickfont: { ...given.tickfont, size: font } };
}

/**
 * The names of the axes, outside the labels that have `left` and `above` pixels. To place an axis's own title
 * Plotly measures every label, and the browser lays out the page for each of them.
 */
function axisNames({ xaxis, yaxis }, left, above) {
  const look = { showarrow: false, xref: "paper", yref: "paper", borderpad: 0 };
  const font = (title) => ({ ...title?.font, size: sized(13) });
  const named = ({ title }, place) => ({ text: title?.text ?? "", font: font(title), ...look, ...place });
  return [
    named(xaxis, { x: 0.5, xanchor: "center", y: 1, yanchor: "bottom", yshift: above }),
    named(yaxis, { x: 0, xanchor: "right", xshift: -left, y: 0.5, yanchor: "middle", textangle: -90 }),
  ].filter(({ text }) => text);
}

// Where the colour bar and the legend go. Plotly wants their places as shares of the width and height of the
// cells, not in pixels.
const AT_CELLS = { xanchor: "left", xref: "paper", yanchor: "top", yref: "paper" };

function barPlace(beside, across, down, larger, lowest) {
  const font = { size: sized(12) };
  const bar = { ...AT_CELLS, lenmode: "pixels", ypad: 0, tickfont: font };
  if (beside) return { ...bar, orientation: "v", x: 1, xpad: 14, y: 1, len: BAR * larger, thickness: 11 };
  const len = Math.min(BAR_BELOW * larger, across);
  return { ...bar, orientation: "h", x: 0, xpad: 0, y: 1 - (lowest + 12) / down, len, thickness: 10 };
}

function keyPlace(beside, across, down, lowest) {
  if (!beside) return { ...AT_CELLS, orientation: "h", x: 0, y: 1 - (lowest + 44) / down };
  const y = 1 - (BAR * enlargement() + 34) / down;
  return { ...AT_CELLS, orientation: "v", x: 1 + 8 / across, y };
}

function withBar(trace, place, cell) {
  const gap = Number(cell >= 9);
  const gaps = trace.type === "heatmap" ? { xgap: gap, ygap: gap } : {};
  const side = place.orientation === "v" ? "top" : "right";
  const { colorbar, marker } = trace;
  const given = colorbar ?? marker?.colorbar;
  if (!given) return { ...trace, ...gaps };
  const bar = { ...given, ...place, title: { ...given.title, side } };
  bar.title.font = { ...given.title?.font, size: place.tickfont.size };
  return colorbar ? { ...trace, ...gaps, colorbar: bar } : { ...trace, marker: { ...marker, colorbar: bar } };
}
