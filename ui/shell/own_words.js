// Shows nothing. Keeps the words that a visitor wants left alone in the browser.
const NAME = "attentionOwnWords";

export default function ({ data, setTriggerValue }) {
  if (data.changed) return localStorage.setItem(NAME, JSON.stringify(data.words));
  const kept = JSON.parse(localStorage.getItem(NAME) ?? "[]");
  if (!data.known && kept.length) setTriggerValue("words", kept);
}
