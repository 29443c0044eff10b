// Text area: sends its text after a pause in typing; halfway through, the network may read it already.
const PAUSE = 200; // milliseconds without typing after which the text is sent
const AHEAD = 100; // milliseconds without typing after which the network may read the text already (ahead.js)
const PATIENCE = 3000; // milliseconds without an answer after which the area says that it waits

export default function ({ data, parentElement, setStateValue }) {
  const area = parentElement.querySelector("textarea");
  parentElement.querySelector("label").textContent = data.label;
  area.placeholder = data.placeholder;
  area.maxLength = data.longest;

  // The area can be seen, and typed into, before this module has arrived: what is in it then was typed.
  const { revision } = area.dataset;
  const typedEarly = revision === undefined && area.value !== "";
  // 0: nothing was replaced in this session. It may be a new session whose text was typed before it began.
  if (revision === undefined || (data.revision && revision !== String(data.revision))) {
    clearTimeout(area.pending);
    area.dataset.revision = data.revision;
    area.sent = data.text;
    if (!typedEarly) area.value = data.text;
  }

  window.typedText = () => (area.isConnected ? area.value : null); // for correction.js
  const status = parentElement.querySelector("p");
  const counted = parentElement.querySelector("output");
  const count = () => {
    const { length } = [...area.value.normalize("NFC")]; // characters, as Python counts what it reads
    counted.textContent = `${length.toLocaleString("en")} / ${data.limit}`;
    counted.classList.toggle("beyond", length > Number(data.limit?.replace(",", "")));
  };
  if (data.limit) count();
  const heard = () => {
    clearTimeout(area.waiting);
    area.waiting = null;
    status.textContent = "";
  };
  if (data.text === area.sent) heard(); // the page that is being drawn is about this text

  const paper = parentElement.querySelector("pre");
  const grown = () => {
    paper.textContent = area.value;
    grow(area);
  };
  grown();
  const send = () => {
    clearTimeout(area.pending);
    clearTimeout(area.ahead);
    if (area.value === area.sent) return;
    setStateValue("text", (area.sent = area.value));
    area.waiting ??= setTimeout(() => (status.textContent = data.waiting), PATIENCE);
  };
  // "input" also fires during composition, and reading the value does not disturb it; "change" comes too
  // late.
  area.oninput = () => {
    grown();
    if (data.limit) count();
    clearTimeout(area.pending);
    clearTimeout(area.ahead);
    area.ahead = setTimeout(() => window.askAhead?.(area.value), AHEAD);
    area.pending = setTimeout(send, PAUSE);
  };
  area.onblur = send;
  if (typedEarly) area.oninput();
}

function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
