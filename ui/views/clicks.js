// Streamlit gives a figure that can be clicked a drag mode, and Plotly then keeps a finger from scrolling the page.
// Here a touch never reaches Plotly, unless the figure is enlarged and the finger may move it: the page scrolls,
// and a tap arrives as the mouse click that browsers make of it.

export default function ({ parentElement }) {
  const element = parentElement.getRootNode().host ?? parentElement;
  const box = element.closest('[data-testid="stElementContainer"]');
  if (box) Object.assign(box.style, { position: "absolute", width: "0" }); // it shows nothing, so it takes no room
  const listen = { capture: true, passive: true };
  window.addEventListener("touchstart", keepFromPlotly, listen);
  return () => window.removeEventListener("touchstart", keepFromPlotly, listen);
}

function keepFromPlotly(event) {
  const plot = event.target.closest?.(".nsewdrag") && event.target.closest(".js-plotly-plot");
  const axis = plot?._fullLayout?.xaxis;
  if (axis && !isEnlarged(axis)) event.stopImmediatePropagation();
}

function isEnlarged({ range, _rangeInitial0: start, _rangeInitial1: end }) {
  return Math.abs(range[1] - range[0]) < 0.99 * Math.abs(end - start);
}
