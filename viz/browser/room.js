// Room of a picture in the window, in pixels. The wrappers put this text before those that use it.

const KEPT_FREE = 6; // pixels at the lower edge of the window

/**
 * The pixels of the window from the top of `element`, as it stands when nothing is scrolled, to the lower
 * edge, or to the bar over that (the page's variables --covered and --class-bar). A picture far down is reached by scrolling
 * anyway, and may have most of a window.
 */
function roomBelow(element, { low, least } = {}) {
  const outside = element.getRootNode().host ?? element;
  const scrolled = outside.closest("[data-testid='stMain']")?.scrollTop ?? window.scrollY;
  const page = getComputedStyle(document.documentElement);
  const bars = ["--covered", "--class-bar"].map((name) => parseFloat(page.getPropertyValue(name)) || 0);
  const covered = Math.max(...bars);
  const room = window.innerHeight - covered - (element.getBoundingClientRect().top + scrolled) - KEPT_FREE;
  return room < (low ? least : 0.45 * window.innerHeight) ? 0.85 * window.innerHeight : room;
}

/**
 * Calls `act` where the room of an element may have changed; the answer ends that. Its ancestors can change
 * without its size, and a lower window changes no box.
 */
function watchRoom(element, act) {
  const watch = new ResizeObserver(act);
  for (let part = element; part; part = part.parentElement ?? part.getRootNode().host) watch.observe(part);
  window.addEventListener("resize", act);
  return () => {
    watch.disconnect();
    window.removeEventListener("resize", act);
  };
}
