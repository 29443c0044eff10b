// Runs the page again when it turns dark or light: the figures and styles that the server sends bring their colours along.

let asked = null; // what the server has been asked for, until it comes

// Streamlit calls this anew whenever its colours change.
export default function ({ data, parentElement, setTriggerValue }) {
  const shown = isDark(parentElement.host) ? "dark" : "light";
  if (shown === data.theme) asked = null;
  else if (shown !== asked) setTriggerValue("theme", (asked = shown)); // once: were it of no use, it would never end
}

function isDark(element) {
  element.style.color = "var(--st-background-color)";
  const [red, green, blue] = getComputedStyle(element).color.match(/[\d.]+/g).map(Number);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}
