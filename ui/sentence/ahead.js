// `window.askAhead(text)`: sends the server a text before typing ends. It shows nothing.
// live_text.js calls it.
export default function ({ setTriggerValue }) {
  window.askAhead = (text) => setTriggerValue("text", text);
  return () => delete window.askAhead;
}
