// Shows nothing. Scrolls the line of tabs until the open one is wholly seen. Streamlit does so once, when the line is not yet as wide as
// it will be: its letters, and the menus beside it, come later.

const widths = new ResizeObserver(reveal);
const arrivals = new MutationObserver(follow); // the tabs may come later than this script
let place = null, line = null;

export default function () {
  place = document.querySelector(".st-key-tabs");
  arrivals.disconnect();
  arrivals.observe(place, { childList: true, subtree: true });
  line = null;
  follow();
}

function follow() {
  const found = place.querySelector("[role=radiogroup]");
  if (found === line) return;
  line = found;
  widths.disconnect();
  for (const part of line ? [line, ...line.children] : []) widths.observe(part); // calls ``reveal`` at once, too
}

function reveal() {
  const open = line?.querySelector("[aria-checked=true]");
  if (!open) return;
  const seen = line.getBoundingClientRect(), { left, right } = open.getBoundingClientRect();
  line.scrollLeft += Math.min(left - seen.left, 0) + Math.max(right - seen.right, 0);
}
