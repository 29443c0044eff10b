// Layout of the drawing of lines.js: places and sizes in pixels, and its legend.
// The wrapper puts this text before that of lines.js.

const WIDEST = 820; // pixels; longer lines are no easier to follow
const PAD = 8; // pixels between a token and its neighbour
const FOOT = 6;
const LEAST_ROW = 1.05; // ems of a row in a lecture

/**
 * All measures in pixels for `data` in a box of `room` pixels, with type `wanted` times as large where it
 * fits. `lecture`: pixels of height and those of them that the words below take; null outside of a lecture.
 */
function arrange(data, room, wanted, lecture) {
  const larger = Math.min(wanted, Math.max(1, room / 600));
  const rows = Math.max(data.queries.length, data.keys.length);
  const usual = larger * (rows <= 24 ? 28 : rows <= 48 || lecture ? 22 : rows <= 140 ? 16 : 12);
  const type = 16 * larger; // in a lecture nothing is smaller
  const title = lecture ? type : 13 * larger;
  const head = 2 * title;
  const { row, shown } = lecture ? rowInLecture(lecture, rows, usual, type, head) : { row: usual, shown: "" };
  const font = lecture ? type : Math.min(type, Math.max(9, row * 0.72));
  const small = lecture ? font : Math.min(12 * larger, Math.max(8, font * 0.75));
  const width = Math.min(Math.max(room, 280), WIDEST * larger);
  const widest = Math.max(...[...data.queries, ...data.keys].map(({ sign }) => ems(sign))) * font;
  const sign = Math.min(widest, 0.16 * width); // a longer token, such as <outside> on a phone, is squeezed
  const number = String(rows).length * 0.62 * small;
  const side = sign + number + 2 * PAD; // of one column, without the weights beside it
  const slot = 3.1 * small + PAD; // one weight such as 0.123
  const free = (width - 2 * side - Math.max(90, 0.34 * width)) / 2 - 1.2 * small;
  const slots = Math.max(1, Math.min(data.heads.length, Math.floor(free / slot)));
  const apart = Math.min(5, (0.78 * row) / data.heads.length);
  const left = slots * slot + 1.2 * small + side;
  const sizes = { row, shown, font, small, title, width, sign, number, slot, slots, head, rows };
  return {
    ...sizes,
    height: head + rows * row + FOOT,
    query: left, // where the lines leave the queries
    key: width - left, // where they reach the keys
    apart, // between the lines of two heads at one token
    thickest: data.heads.length > 1 ? Math.max(1, 0.7 * apart) : Math.min(6, 0.45 * row),
    y: (place) => head + (place + 0.5) * row,
  };
}

/**
 * Rows share the height above the words, or else that of the window. Where both are too low for type of
 * `font` pixels, rows are `usual` ones and the box shows some of them; `shown` is its greatest height.
 * `head`: pixels above the rows.
 */
function rowInLecture([high, words], rows, usual, font, head) {
  for (const room of [high - words, high]) {
    const row = (room - head - FOOT) / rows;
    if (row >= LEAST_ROW * font) return { row: Math.min(usual, row), shown: "none" };
  }
  return { row: usual, shown: `${head + Math.floor((high - words - head) / usual) * usual}px` };
}

/** The curve of one weight from its query to its key. */
function curve(at, [query, key], head, heads) {
  const shift = (head - (heads - 1) / 2) * at.apart;
  const [start, end] = [at.y(query) + shift, at.y(key) + shift];
  const bend = (at.key - at.query) * 0.4;
  const points = [at.query, start, at.query + bend, start, at.key - bend, end, at.key, end];
  const [x, y, ...rest] = points.map((number) => Math.round(number * 10) / 10);
  return `M${x} ${y}C${rest.join(" ")}`;
}

/** The picture's label and its heads, drawn above the point (0, 0) in lines of at most `width`. */
function legendOf({ label, heads, colours }, width) {
  const [font, line, margin] = [13, 22, 6];
  const drawing = shape("g", { "font-size": font, fill: colours.text });
  let [x, y] = [margin, 38];
  heads.forEach(({ name }, head) => {
    const size = 34 + ems(name) * font + 18;
    if (x > margin && x + size > width - margin) [x, y] = [margin, y + line];
    const text = shape("text", { x: 34, y: font * 0.75 }, name);
    drawing.append(shape("g", { transform: `translate(${x} ${y})` }, swatch(head, colours), text));
    x += size;
  });
  const height = y + line;
  drawing.append(shape("text", { x: margin, y: 22, "font-size": 15, "font-weight": 700 }, label));
  drawing.setAttribute("transform", `translate(0 ${-height})`);
  return { drawing, height };
}

/** A short piece of a head's line. */
function swatch(head, colours, width = 28) {
  const line = { x1: 0, x2: width, y1: 5, y2: 5, stroke: colours.qualitative[head], "stroke-width": 3 };
  const drawing = shape("svg", { class: "swatch", width, height: 10, "aria-hidden": "true" });
  drawing.append(shape("line", { ...line, "stroke-dasharray": DASHES[head] }));
  return drawing;
}
