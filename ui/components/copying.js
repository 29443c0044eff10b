// `copyText`: copies a text to the clipboard and confirms it.
// The wrapper puts this text before that of the script that uses it.

/** Copy `text`; `place`, the button or a status beside it, says so for a moment. */
async function copyText(text, place, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyByHand(text); // a page without https has no clipboard, as on a school's own network
  }
  sayBriefly(place, done);
}

function sayBriefly(place, said) {
  const label = place.textContent;
  place.textContent = said;
  setTimeout(() => (place.textContent = label), 1500);
}

function copyByHand(text) {
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.style.cssText = "position: fixed; opacity: 0";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
