// Browser storage of the words that a visitor wants left alone. It shows nothing.
const NAME = "attentionOwnWords";

// Escape closes the settings, and with them the field, which keeps what was typed only when it is left.
function leave({ key, target }) {
  if (key === "Escape" && target.closest(".st-key-own_words_field")) target.blur();
}

export default function ({ data, setTriggerValue }) {
  document.ownWordsLeft ??= document.addEventListener("keydown", leave, true) ?? true;
  if (data.changed) return localStorage.setItem(NAME, JSON.stringify(data.words));
  const kept = JSON.parse(localStorage.getItem(NAME) ?? "[]");
  if (!data.known && kept.length) setTriggerValue("words", kept);
}
