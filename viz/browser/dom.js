// Elements of HTML and SVG.

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
