// Elements of HTML and SVG, and texts with places to fill.

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
  const list = node(
    "select",
    "",
    ...options.map(([value, text]) => new Option(text, value, false, value === chosen)),
  );
  list.onchange = () => act(options[list.selectedIndex][0]);
  list.setAttribute("aria-label", label); // else its options would be part of its name
  return node("label", "", label, list);
}

/** `text` with its {places} filled at once, so that braces in a typed token stay. */
export function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
