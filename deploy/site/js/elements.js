// Parts of the page.

export function make(tag, className, ...children) {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...children);
  return made;
}

export function pressed(text, act, isDisabled = false) {
  return Object.assign(make("button", "", text), { type: "button", onclick: act, disabled: isDisabled });
}

/** A list to choose one of, with its label. */
export function picked(label, options, chosen, act) {
  const list = make("select", "", ...options.map((text, i) => new Option(text, i, false, i === chosen)));
  list.onchange = () => act(Number(list.value));
  list.setAttribute("aria-label", label);
  return make("label", "", label, list);
}
