// `Diagram`: drawing of the encoder-decoder of diagram.py; it reports the chosen part.
const NARROW_BELOW = 700; // pixels of width: beneath this the letters of the wide form would be too small
const SMALL = 100; // boxes narrower than this have less room around their words
// Pixels of a title, of the same in low boxes, of a detail and of a heading; radius of a sum; length of an
// arrowhead.
const USUAL = { title: 14, low: 12.5, detail: 12.5, heading: 16, radius: 9, arrow: 8 };
const FORMS = {
  wide: USUAL,
  narrow: USUAL,
  lecture: { title: 13, low: 13, detail: 13, heading: 13, radius: 6.5, arrow: 5 },
};
const APART = 8; // pixels between a title and the detail beside it

export default component("diagram", () => Diagram);

/** One network. Without `setTriggerValue`, as in a page that stands alone, its parts lead nowhere. */
class Diagram {
  constructor(root) {
    this.root = root;
    this.watch = new ResizeObserver(() => this.draw());
  }

  show(data, { setTriggerValue }) {
    const text = JSON.stringify(data);
    if (text !== this.text) Object.assign(this, { data, text, form: null });
    this.go = setTriggerValue && ((part) => setTriggerValue("go", part));
    this.leave();
    this.watch.observe(this.root); // which also draws
  }

  leave() {
    this.watch.disconnect();
  }

  draw() {
    const form = inLecture() ? "lecture" : this.root.clientWidth < NARROW_BELOW ? "narrow" : "wide";
    if (!this.root.clientWidth || form === this.form) return;
    this.form = form;
    const { colours } = this.data;
    for (const [name, colour] of Object.entries(colours)) this.root.style.setProperty(`--${name}`, colour);
    const reached = this.root.querySelector("[data-part]:focus")?.dataset.key;
    this.svg = this.picture(this.data.forms[form]);
    this.svg.classList.add(form);
    this.root.replaceChildren(this.tools(), this.svg);
    this.svg.querySelectorAll("g:has(> .beside)").forEach(fitBeside);
    this.svg.querySelectorAll("text[data-room]").forEach(fit);
    if (reached) this.svg.querySelector(`[data-key="${CSS.escape(reached)}"]`)?.focus();
  }

  tools() {
    return node("div", "tools", ...savingButtons(this.data.words, () => this.svg, this.data.picture));
  }

  picture({ width, height, boxes, frames, lines, sums, headings }) {
    const { heading: size, title } = FORMS[this.form];
    const heading = { size, weight: 700 };
    // Columns that are read from below have an open layer's row below its parts: its name is above them, too.
    const named = this.form === "narrow" ? [] : frames;
    return shape(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": this.data.label },
      ...frames.map((frame) => this.place(frame, "frame", 12)),
      ...lines.flatMap((line) => this.line(line)),
      ...sums.flatMap(([x, y]) => this.sum(x, y)),
      ...headings.map(([x, y, text]) => this.words(text, x, y + 5, heading)),
      ...named.map((frame) =>
        this.words(frame.title, frame.x + 12, frame.y + title + 4, { size: title, weight: 700 }),
      ),
      ...boxes.map((box) => this.box(box)),
    );
  }

  place({ x, y, width, height }, style, radius) {
    const look = this.data.looks[style];
    const fill = look.fill === "none" ? this.data.picture.ground : look.fill;
    return shape("rect", { class: "place", x, y, width, height, rx: radius, fill, ...strokeOf(look) });
  }

  box(box) {
    const group = shape("g", {});
    const marked = box.leads_to && this.go;
    group.append(this.place(box, box.style, box.height > 24 ? 8 : 4), ...this.labels(box, marked ? 16 : 0));
    if (marked) this.lead(group, box);
    return group;
  }

  /** Title above detail, in a low box beside it; `sign` is the room that the sign of `lead` takes. */
  labels(box, sign) {
    const { x, y, width, height, title, detail, style } = box;
    const size = FORMS[this.form];
    const padding = paddingOf(box);
    const weight = style === "norm" ? 400 : 700;
    const left = x + padding;
    const room = width - 2 * padding;
    if (height > 40) {
      const second = { size: size.detail, colour: "quiet_text", room: room - (width < SMALL ? 0 : sign) };
      return [
        this.words(title, left, y + 19, { size: size.title, weight, room: room - sign }),
        this.words(detail, left, y + 37, second),
      ];
    }
    const middle = y + height / 2 + 4.5;
    const quiet = { size: size.detail, colour: "quiet_text", anchor: "end" };
    const beside = this.words(detail, left + room - sign, middle, quiet);
    beside.classList.add("beside");
    const large = height > 24 ? size.title : size.low;
    const named = this.words(title, left, middle, { size: large, weight, room: room - sign });
    if (style === "mask") named.dataset.yields = "";
    return [named, beside];
  }

  /** The part becomes something to be chosen, with a sign at its right end. */
  lead(group, box) {
    const { x, y, width, height, leads_to: part, spoken, expanded, title } = box;
    group.dataset.part = part;
    group.dataset.key = `${part}|${title}|${spoken}`;
    const isLayer = expanded !== null;
    Object.assign(group, { tabIndex: 0, role: isLayer ? "button" : "link", ariaLabel: spoken });
    if (isLayer) group.ariaExpanded = expanded;
    const end = x + width - paddingOf(box);
    const middle = width < SMALL && height > 40 ? y + 14 : y + height / 2;
    const turn = expanded ? -1 : 1;
    const chevron = isLayer
      ? `M${end - 9} ${middle - 2.5 * turn}l4.5 ${5 * turn} 4.5 ${-5 * turn}`
      : `M${end - 5} ${middle - 4.5}l5 4.5 -5 4.5`;
    const { text: stroke } = this.data.colours;
    group.append(shape("path", { d: chevron, fill: "none", stroke, "stroke-width": 1.8 }));
    group.onclick = () => this.go(part);
    group.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.go(part);
    };
  }

  line({ points, style, arrow }) {
    const look = this.data.looks[style === "memory" ? "memory_line" : style];
    const d = `M${points.map((point) => point.join(" ")).join("L")}`;
    const path = shape("path", { d, fill: "none", ...strokeOf(look), "stroke-linejoin": "round" });
    return arrow ? [path, arrowhead(points, look.stroke, FORMS[this.form].arrow)] : [path];
  }

  sum(x, y) {
    const { ground } = this.data.picture;
    const { quiet_text: quiet } = this.data.colours;
    const { radius } = FORMS[this.form];
    const arm = (5 / 9) * radius;
    const d = `M${x - arm} ${y}h${2 * arm}M${x} ${y - arm}v${2 * arm}`;
    return [
      shape("circle", { cx: x, cy: y, r: radius, fill: ground, stroke: quiet, "stroke-width": 1.5 }),
      shape("path", { d, stroke: quiet, "stroke-width": 1.5 }),
    ];
  }

  words(text, x, y, { size = 14, weight = 400, colour = "text", anchor = "start", room } = {}) {
    const type = { "font-size": size, "font-weight": weight, "text-anchor": anchor };
    const words = shape("text", { x, y, fill: this.data.colours[colour], ...type }, text);
    if (room) words.dataset.room = room;
    return words;
  }
}

const strokeOf = ({ stroke, width, dash }) => ({ stroke, "stroke-width": width, "stroke-dasharray": dash });

function paddingOf({ width }) {
  return width < SMALL ? 6 : 10;
}

function arrowhead(points, colour, long) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  const d = `M0 0L${-long} ${-0.56 * long}v${1.12 * long}Z`;
  return shape("path", { d, fill: colour, transform: `translate(${x} ${y}) rotate(${angle})` });
}

/**
 * Shortens the detail that stands beside a title until both fit: first without the number of parameters, then
 * the sizes alone.
 */
function fitBeside(group) {
  const [title, detail] = group.querySelectorAll("text");
  const room = Number(title.dataset.room) - APART;
  const long = () => detail.getComputedTextLength();
  const whole = detail.textContent;
  const sizes = whole.replace(/ · [\d,]+$/, "");
  for (const text of [whole, sizes, sizes.replace(/^.* = /, "")]) {
    detail.textContent = text;
    if (title.getComputedTextLength() + long() <= room) return;
  }
  detail.textContent = sizes;
  if ("yields" in title.dataset) title.textContent = ""; // which mask it is says more than that it is one
  // Otherwise the title is longer than all of them: a typed sentence, which ``fit`` cuts.
  title.dataset.room = room - long();
}

/** Cuts a text that is wider than its box. */
function fit(text) {
  const room = Number(text.dataset.room);
  const characters = [...text.textContent];
  while (characters.length && text.getComputedTextLength() > room) {
    characters.pop();
    text.textContent = `${characters.join("").trimEnd()}…`;
  }
}
