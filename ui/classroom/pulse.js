// Polling of the server for news of the classroom, and height of the class's bar. It shows nothing.
//
// A page that is out of sight does not ask. Nor does a page that is being drawn: if the visitor is leaving a
// page, the answer would arrive in the next one. Nor does a page in which something was pressed just now:
// Streamlit sends what happens in one moment as one message, for the fragment of the beat, and the press would
// be lost.
//
// In the class's bar it also says how high that is (--class-bar): pictures end above it. A step of a lesson
// begins at the page's upper edge.
const AFTER_A_PRESS = 2000; // milliseconds; a busy server takes one to say that it draws the next page

export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.endPulse?.(); // Streamlit calls this again for new data, and what it returns only at the end
  let beats = 0;
  const bar = (parentElement.getRootNode().host ?? parentElement).closest(".st-key-class_bar");
  const page = document.documentElement.style;
  const watch = new ResizeObserver(() => {
    const high = `${window.innerHeight - bar.getBoundingClientRect().top}px`;
    if (page.getPropertyValue("--class-bar") === high) return;
    page.setProperty("--class-bar", high);
    window.dispatchEvent(new Event("resize"));
  });
  if (bar) watch.observe(bar);
  if (window.lessonStep !== data.step) document.querySelector(".stMain")?.scrollTo(0, 0);
  window.lessonStep = data.step;
  const app = document.querySelector('[data-testid="stApp"]');
  const ended = new AbortController();
  let pressed = -Infinity;
  const press = ({ timeStamp }) => (pressed = timeStamp);
  for (const kind of ["pointerdown", "keydown"])
    window.addEventListener(kind, press, { capture: true, signal: ended.signal });
  const isBusy = () =>
    document.hidden ||
    app?.dataset.testScriptState !== "notRunning" ||
    performance.now() - pressed < AFTER_A_PRESS;
  const timer = setInterval(() => isBusy() || setTriggerValue("beat", ++beats), data.every);
  const end = () => {
    clearInterval(timer);
    ended.abort();
    watch.disconnect();
  };
  parentElement.endPulse = end;
  return () => {
    end();
    if (parentElement.endPulse === end) page.removeProperty("--class-bar");
  };
}
