// Scrolling of the line of tabs, so that the open one is wholly in sight. It shows nothing.
// Streamlit scrolls once, when the line is not yet as wide as it will be: its letters, and the menus beside it,
// come later. Where tabs are out of sight, the style draws an arrow at that end of the line. Pressing it shows
// them.

const ARROW = 32; // pixels that an arrow covers, and a little more

const widths = new ResizeObserver(reveal);
const arrivals = new MutationObserver(follow); // the tabs may come later than this script
let place = null,
  line = null;

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
  line?.addEventListener("click", more);
  // Each calls `reveal` at once, too.
  for (const part of line ? [line, ...line.children] : []) widths.observe(part);
}

function reveal() {
  const open = line?.querySelector("[aria-checked=true]");
  if (!open) return;
  const seen = line.getBoundingClientRect(),
    { left, right } = open.getBoundingClientRect();
  line.scrollLeft += Math.min(left - seen.left - ARROW, 0) + Math.max(right - seen.right + ARROW, 0);
}

/** An arrow is a part of the line and not of a tab, so the line itself was pressed. */
function more({ target, currentTarget: pressed, clientX }) {
  if (target !== pressed) return;
  const { left, width } = pressed.getBoundingClientRect();
  const forward = clientX - left > width / 2;
  pressed.scrollBy({ left: (forward ? 1 : -1) * (width - 2 * ARROW), behavior: "smooth" });
}
