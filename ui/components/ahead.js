// Shows nothing. `window.askAhead(text)` tells the server of a text that may not be typed to its end yet (live_text.js).
export default function ({ setTriggerValue }) {
  window.askAhead = (text) => setTriggerValue("text", text);
  return () => delete window.askAhead;
}
