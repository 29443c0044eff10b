// Draws the figures of the file once its font is there, so that Plotly measures the labels it will show.
const read = (id) => JSON.parse(document.getElementById(id).textContent);

window.componentParts = (name) => {
  const place = document.getElementById(name); // none for what shows nothing itself
  return { data: read(`${name}-data`), parentElement: place?.shadowRoot };
};

document.fonts.load("16px 'Noto Sans KR'", "가").then(() => {
  for (const place of document.querySelectorAll("[data-figure]")) {
    const { figure, config } = read(place.dataset.figure);
    window.Plotly.newPlot(place, figure.data, figure.layout, config);
  }
});
