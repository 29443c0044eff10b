// A button that copies the text it is given.
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = data.label;
  button.onclick = () => copyText(data.text, button, data.done);
}
