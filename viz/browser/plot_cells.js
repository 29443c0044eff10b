// Cells of a mosaic, painted on a canvas beneath its figure.
// Plotly would find the colour of each cell by itself and pack them all as a picture, at each figure anew, which
// takes as long as the rest of it.

const BYTES = 256;

/** The trace of a figure that is painted here: cells of one byte each, never moved or enlarged. */
function paintedTrace({ data: [trace], layout }) {
  return layout.meta?.still && trace?.type === "heatmap" && trace.z?.dtype === "u1" ? trace : null;
}

/** The traces for Plotly instead: the same trace with its colour bar, and one empty cell. */
function leftToPlotly(figure) {
  const painted = paintedTrace(figure);
  return painted ? [{ ...painted, z: [[null]] }, ...figure.data.slice(1)] : figure.data;
}

/** Paints a `trace` on `canvas`, where Plotly has laid out its axes. */
function paintCells(canvas, { z, colorscale, zmin, zmax, x0 = 0, y0 = 0 }, { xaxis, yaxis }) {
  const [rows, columns] = z.shape.split(",").map(Number);
  const picture = new ImageData(columns, rows);
  const pixels = new Uint32Array(picture.data.buffer);
  const colours = coloursOf(colorscale, zmin, zmax);
  const bytes = atob(z.bdata);
  for (let i = 0; i < pixels.length; i += 1) pixels[i] = colours[bytes.charCodeAt(i)];
  Object.assign(canvas, { width: columns, height: rows });
  canvas.getContext("2d").putImageData(picture, 0, 0);
  const [left, right] = [x0 - 0.5, x0 + columns - 0.5].map((x) => xaxis._offset + xaxis.l2p(x));
  const [top, bottom] = [y0 - 0.5, y0 + rows - 0.5].map((y) => yaxis._offset + yaxis.l2p(y));
  Object.assign(canvas.style, {
    transform: `translate(${left}px, ${top}px)`,
    width: `${Math.round(right - left)}px`,
    height: `${Math.round(bottom - top)}px`,
  });
}

/** The colour of each byte as a pixel holds it. Between two entries of a scale, colours change evenly. */
function coloursOf(scale, zmin, zmax) {
  const parts = scale.map(([share, colour]) => [
    zmin + share * (zmax - zmin),
    [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)),
  ]);
  const colours = new Uint8Array(4 * BYTES).fill(255);
  for (let byte = 0; byte < BYTES; byte += 1) {
    const value = Math.min(Math.max(byte, zmin), zmax);
    const above = parts.findIndex(([start]) => start > value);
    const last = above < 0 ? parts.length - 1 : above;
    const [[from, one], [to, other]] = [parts[last - 1], parts[last]];
    const share = to > from ? (value - from) / (to - from) : 1;
    one.forEach((part, i) => (colours[4 * byte + i] = Math.round(part + share * (other[i] - part))));
  }
  return new Uint32Array(colours.buffer);
}
