// Start of a standalone page: unpacks Plotly, then starts its components with the font.
// They wait for the font because Plotly measures the labels that it will show.

window.components = {}; // name of a script -> the function that it exports
window.register = (name) => (draw) => (window.components[name] = draw);

/** Bytes packed by Python with zlib and base64. */
window.unpacked = async (text) => {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

// plot.js waits for this instead of fetching a file.
window.attentionPlotly = (async () => {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(
    await window.unpacked(document.getElementById("library").textContent),
  );
  document.head.append(script);
  return window.Plotly;
})();

document.addEventListener("DOMContentLoaded", async () => {
  await document.fonts.load("16px 'Noto Sans KR'", "가");
  for (const block of document.querySelectorAll("script[data-component]")) {
    const place = document.getElementById(block.dataset.place);
    const data = JSON.parse(block.textContent);
    window.components[block.dataset.component]({ data, parentElement: place?.shadowRoot ?? place });
  }
});
