// Copies a text. The wrapper puts this text before that of the script that uses it.

/** Copy `text`; the button says so for a moment. */
async function copyText(text, button, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyByHand(text); // a page without https has no clipboard, as on a school's own network
  }
  const label = button.textContent;
  button.textContent = done;
  setTimeout(() => (button.textContent = label), 1500);
}

function copyByHand(text) {
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.style.cssText = "position: fixed; opacity: 0";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
