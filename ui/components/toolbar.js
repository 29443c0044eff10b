// Plotly's toolbar saves one format, without a ground, and speaks English. This puts two buttons, PNG and SVG,
// in place of the camera of every figure of the document, and names all buttons in the language of the page.

const FORMATS = { png: 3, svg: 1 }; // format -> how many times the size on the screen it has
let names; // a Map of Plotly's name of a button -> what it does
let ground; // the colour behind a saved figure
const observer = new MutationObserver(dressAll);

export default function (component) {
  names = new Map(component.data.names);
  ground = component.data.ground;
  observer.observe(document.body, { childList: true, subtree: true });
  dressAll();
  return () => observer.disconnect();
}

function dressAll() {
  document.querySelectorAll(".js-plotly-plot").forEach(dress);
}

function dress(plot) {
  const bar = plot._fullLayout?._modeBar;
  const camera = bar?.buttonElements?.[bar.buttonsNames.indexOf("toImage")];
  if (!camera?.parentElement) return;
  bar.buttonElements.forEach((button, index) => name(button, bar.buttonsNames[index]));
  // Plotly throws its buttons away and makes new ones whenever their set changes, and ours with them.
  const ours = camera.parentElement.querySelectorAll("[data-format]");
  const buttons = ours.length ? [...ours] : addButtons(plot, camera);
  buttons.forEach((button) => name(button, button.dataset.format));
}

function name(button, key) {
  if (!names.has(key) || button.dataset.title === names.get(key)) return;
  button.dataset.title = names.get(key);
  button.setAttribute("aria-label", names.get(key));
}

function addButtons(plot, camera) {
  const { color, activecolor } = plot._fullLayout.modebar;
  const buttons = Object.keys(FORMATS).map((format) => {
    const button = camera.cloneNode(false);
    button.dataset.format = format;
    button.textContent = format.toUpperCase();
    Object.assign(button.style, { color, font: "600 11px/16px sans-serif", verticalAlign: "top" });
    button.onpointerenter = () => (button.style.color = activecolor);
    button.onpointerleave = () => (button.style.color = color);
    button.onclick = () => save(plot, camera, format);
    return button;
  });
  camera.style.display = "none";
  camera.after(...buttons);
  return buttons;
}

// The camera reads format and colour before its click returns, so both can be lent to it for that long.
function save(plot, camera, format) {
  const { _context: context, layout } = plot;
  const [options, paper] = [context.toImageButtonOptions, layout.paper_bgcolor];
  context.toImageButtonOptions = { ...options, format, scale: FORMATS[format] };
  layout.paper_bgcolor = ground;
  camera.click();
  context.toImageButtonOptions = options;
  layout.paper_bgcolor = paper;
}
