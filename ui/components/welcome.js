// Line of welcome on a first visit, and a short tour of the page. Neither comes again once it was closed.

const SEEN = "attentionWelcomed";
const MARGIN = 6; // pixels between a frame and what it frames

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".welcome");
  if (localStorage.getItem(SEEN)) return root.replaceChildren();
  if (!root.tour) chooseLast();
  root.tour ??= new Tour(root);
  root.tour.show(data);
  return () => root.tour.stop();
}

/** The first element that a selector names, in components with styles of their own, too. */
function reach(selector) {
  const [place, ...rest] = selector.split(" ");
  const roots = [...document.querySelectorAll(`${place}, ${place} *`)].flatMap(
    ({ shadowRoot }) => shadowRoot ?? [],
  );
  return (
    document.querySelector(selector) ?? roots.map((each) => each.querySelector(rest.join(" "))).find(Boolean)
  );
}

/** Presses what a selector names once it is there, for some ten seconds. */
function press(selector, patience = 50) {
  const found = reach(selector);
  if (found) found.click();
  else if (patience) setTimeout(press, 200, selector, patience - 1);
}

/** The first picture of a first visit is about the last change: the map of the head that matters for it. */
function chooseLast(patience = 50) {
  const text = reach(".st-key-correction .correction");
  const number = text?.data?.pieces.flatMap(({ made }) => made ?? []).at(-1);
  if (number === undefined) return patience && setTimeout(chooseLast, 200, patience - 1);
  if (text.data.chosen === null) text.ask("choose", number);
}

class Tour {
  constructor(root) {
    this.root = root;
    this.at = -1; // -1 is the line of welcome; stops count from 0
    this.frame = node("div", "frame");
    this.panel = Object.assign(node("div", "panel"), { role: "dialog" });
    this.follow = () => this.place();
  }

  show(data) {
    this.data = data;
    this.root.replaceChildren(this.frame, this.panel);
    this.draw();
    this.listen(true);
  }

  stop() {
    this.listen(false);
    this.cover(0);
  }

  listen(on) {
    const change = on ? window.addEventListener : window.removeEventListener;
    change("resize", this.follow);
    change("scroll", this.follow, true);
  }

  draw() {
    const { words, stops } = this.data;
    const stop = stops[this.at];
    const text = stop ? stop.text : words.welcome;
    const forward = stop ? (this.at + 1 < stops.length ? words.next : words.end) : words.begin;
    const leave = button(words.leave, () => this.leave(), { className: "quiet" });
    const next = button(forward, () => this.forward(), { className: "strong" });
    const count = stop ? [node("span", "count", `${this.at + 1} / ${stops.length}`)] : [];
    const buttons = node("div", "buttons", ...count, leave, next);
    this.panel.replaceChildren(node("p", "text", text), buttons);
    this.panel.ariaLabel = words.label;
    this.panel.onkeydown = ({ key }) => {
      if (key === "Escape") this.leave();
    };
    this.target()?.scrollIntoView({ block: "nearest" });
    this.place();
  }

  /** Pictures leave this many pixels free at the window's lower edge. */
  cover(pixels) {
    const page = document.documentElement.style;
    if (page.getPropertyValue("--covered") === `${pixels}px`) return;
    page.setProperty("--covered", `${pixels}px`);
    window.dispatchEvent(new Event("resize"));
  }

  forward() {
    this.at += 1;
    // A sentence without corrections has no such part.
    while (this.at < this.data.stops.length && !this.target()) this.at += 1;
    if (this.at >= this.data.stops.length) {
      press(this.data.last);
      return this.leave();
    }
    const { pressed } = this.data.stops[this.at];
    if (pressed) press(pressed);
    this.draw();
    this.panel.querySelector(".strong").focus();
  }

  /**
   * The room below the pictures stays free: they would grow below the mouse that closed the panel. A window
   * of another size ends that.
   */
  leave() {
    localStorage.setItem(SEEN, "1");
    this.root.replaceChildren();
    this.listen(false);
    const { innerWidth, innerHeight } = window;
    const follow = () => {
      // Parts of the page dispatch this event, too, when a text takes more lines.
      if (window.innerWidth === innerWidth && window.innerHeight === innerHeight) return;
      window.removeEventListener("resize", follow);
      this.cover(0);
    };
    window.addEventListener("resize", follow);
  }

  target() {
    const stop = this.data.stops[this.at];
    return stop && document.querySelector(stop.place);
  }

  /** Puts the frame around the part that is explained, and the panel where it does not cover that part. */
  place() {
    const target = this.target();
    this.frame.hidden = !target;
    this.panel.classList.remove("above");
    // In a window of one size the room stays the same during the tour and after it, so nothing jumps.
    const size = `${window.innerWidth} ${window.innerHeight}`;
    if (size !== this.size) {
      this.size = size;
      this.room = window.innerHeight - this.panel.getBoundingClientRect().top;
    }
    this.cover(this.room);
    if (!target) return;
    const { left, top, width, height } = target.getBoundingClientRect();
    const place = [top - MARGIN, left - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN];
    ["top", "left", "width", "height"].forEach((side, i) => (this.frame.style[side] = `${place[i]}px`));
    const { offsetHeight } = this.panel;
    const isCovered = top + height > window.innerHeight - offsetHeight - 24;
    this.panel.classList.toggle("above", isCovered && top > offsetHeight);
  }
}
