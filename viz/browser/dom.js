// Helpers: elements of HTML and SVG, keys, filled texts, merged objects, groups, ranges.

/** An HTML element with a class and its children. */
export function node(tag, className, ...children) {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...children);
  return made;
}

/** An SVG element with its attributes, without the empty ones, and its children. */
export function shape(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A button that calls `act`; `label` is its spoken name where its text is not. */
export function button(text, act, { className = "", label } = {}) {
  const made = Object.assign(node("button", className, text), { type: "button", onclick: act });
  if (label) made.setAttribute("aria-label", label);
  return made;
}

/** A labelled list of `options` [value, text]; `act` is called with the value that is chosen. */
export function menu(label, options, chosen, act) {
  const list = node("select", "");
  list.append(...options.map(([value, text]) => new Option(text, value, false, value === chosen)));
  list.onchange = () => act(options[list.selectedIndex][0]);
  list.setAttribute("aria-label", label); // else its options would be part of its name
  return node("label", "", label, list);
}

/** The component whose `kind()` draws in the place of its `name`; made once, it keeps its state there. */
export function component(name, kind) {
  return ({ data, parentElement, ...answers }) => {
    const root = parentElement.querySelector(`.${name}`) ?? parentElement.appendChild(node("div", name));
    root[name] ??= new (kind())(root);
    root[name].show(data, answers);
    return () => root[name].leave();
  };
}

/** Puts other controls into `place`; the one that has the focus there hands it to its successor. */
export function replaceControls(place, ...children) {
  const controls = () => [...place.querySelectorAll("select, button, input")];
  const focused = controls().indexOf(document.activeElement);
  place.replaceChildren(...children);
  controls()[focused]?.focus({ preventScroll: true });
}

/** Whether the page is shown to a class, as ui/shell/lecture.css says. */
export function inLecture() {
  return getComputedStyle(document.documentElement).getPropertyValue("--lecture").trim() === "1";
}

/** Whether a key was pressed alone, as the shortcuts of pictures are. */
export const isPlainKey = ({ ctrlKey, metaKey, altKey }) => !(ctrlKey || metaKey || altKey);

/** The page does nothing else at a key that was understood. */
export function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** `text` with its {places} filled at once, so that braces in a typed token stay. */
export function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** `object` with the values of `changes` in its parts, and in theirs; a list replaces a whole list. */
export function merged(object, changes) {
  const isPlain = (value) => value?.constructor === Object;
  const made = { ...object };
  for (const [name, value] of Object.entries(changes))
    made[name] = isPlain(value) && isPlain(object[name]) ? merged(object[name], value) : value;
  return made;
}

/** Map of each answer of `by` -> its items, in order. */
export function grouped(items, by) {
  const found = new Map();
  for (const item of items) found.set(by(item), [...(found.get(by(item)) ?? []), item]);
  return found;
}

/** The whole numbers from `start` up to, and without, `end`. */
export const between = (start, end) => Array.from({ length: Math.max(end - start, 0) }, (_, i) => start + i);
export const upTo = (count) => between(0, count);
