// Shows nothing. `window.askAhead(text)` sends the server a text that may still be typed on (live_text.js
// calls it).
export default function ({ setTriggerValue }) {
  window.askAhead = (text) => setTriggerValue("text", text);
  return () => delete window.askAhead;
}
