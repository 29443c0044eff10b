const PAUSE = 200; // milliseconds without typing after which the text is sent

export default function ({ data, parentElement, setStateValue }) {
  const area = parentElement.querySelector("textarea");
  parentElement.querySelector("label").textContent = data.label;
  area.placeholder = data.placeholder;
  area.maxLength = data.longest;

  if (area.dataset.revision !== String(data.revision)) {
    clearTimeout(area.pending);
    area.dataset.revision = data.revision;
    area.value = area.sent = data.text;
  }

  const send = () => {
    clearTimeout(area.pending);
    if (area.value !== area.sent) setStateValue("text", (area.sent = area.value));
  };
  // "input" also fires during composition, and reading the value does not disturb it; "change" comes too late.
  area.oninput = () => {
    clearTimeout(area.pending);
    area.pending = setTimeout(send, PAUSE);
  };
  area.onblur = send;
}
