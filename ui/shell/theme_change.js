// Switch between light and dark, and report of the theme to the server.
// The server then sends figures and styles again, because they have their colours in them.

let asked = null; // what the server has been asked for, until it comes

// Streamlit calls this anew whenever its colours change.
export default function ({ data, parentElement, setTriggerValue }) {
  const shown = isDark(parentElement.host) ? "dark" : "light";
  draw(parentElement, data, shown);
  if (shown === data.theme) asked = null;
  // Once: were it of no use, it would never end.
  else if (shown !== asked) setTriggerValue("theme", (asked = shown));
}

function draw(parent, { labels, pages }, shown) {
  const button = parent.querySelector("button");
  const other = shown === "dark" ? "light" : "dark";
  button.textContent = other === "dark" ? "☾" : "☀";
  button.title = labels[other];
  button.setAttribute("aria-label", labels[other]);
  button.onclick = () => turn(other, pages);
}

/** Streamlit keeps the look of each page by the page's path, and reads it when the page is opened. */
function turn(look, pages) {
  const name = look === "dark" ? "Dark" : "Light";
  const root = location.pathname.replace(/[^/]*$/, "");
  for (const page of ["", ...pages])
    localStorage.setItem(`stActiveTheme-${root}${page}-v2`, JSON.stringify(name));
  location.reload();
}

function isDark(element) {
  element.style.color = "var(--st-background-color)";
  const { color } = getComputedStyle(element);
  const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}
