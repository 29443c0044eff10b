// Starts every component of the page once the font is there, because Plotly measures the labels that it will show.
window.components = {}; // name of a script -> the function that it exports
document.addEventListener("DOMContentLoaded", async () => {
  await document.fonts.load("16px 'Noto Sans KR'", "가");
  for (const block of document.querySelectorAll("script[data-component]")) {
    const place = document.getElementById(block.dataset.place);
    const data = JSON.parse(block.textContent);
    window.components[block.dataset.component]({ data, parentElement: place?.shadowRoot ?? place });
  }
});
