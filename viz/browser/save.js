// Buttons that save a drawn <svg> as PNG or SVG, and the file that they make.
// The wrapper of a component puts this text before the component's own.

const MOST_PIXELS = 16_000_000; // of a canvas: phones draw nothing at all on a larger one

/**
 * `svg` carries its size and all its colours itself. `style` holds `name` (of the file, ASCII), `ground` (the
 * colour behind the drawing), `font` (a list of families) and `font_file` (the address of a WOFF2 with
 * Hangul; the system's fonts draw where it cannot be fetched, as in a page that is opened from a file).
 */
async function savePicture(svg, format, { name, ground, font, font_file }) {
  const picture = svg.cloneNode(true);
  const [x, y, width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  picture.prepend(shape("rect", { x, y, width, height, fill: ground }));
  const attributes = { xmlns: svg.namespaceURI, width, height, "font-family": font };
  for (const [name, value] of Object.entries(attributes)) picture.setAttribute(name, value);
  if (format === "svg") return offer(pictureFile(picture), `${name}.svg`);
  await embedFont(picture, font, font_file);
  offer(await painted(pictureFile(picture), width, height), `${name}.png`);
}

/** A button for each format, spoken by its word; `draw` makes the <svg> when it is pressed. */
function savingButtons(words, draw, style) {
  const save = (format) => () => savePicture(draw(), format, style);
  return ["png", "svg"].map((format) => button(format.toUpperCase(), save(format), { label: words[format] }));
}

function pictureFile(picture) {
  return new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml;charset=utf-8" });
}

/** A picture that is drawn on a canvas sees no font of the page, so it brings its own. */
async function embedFont(picture, families, address) {
  const fetched = (answer) => answer.ok && answer.blob();
  const file = address && (await fetch(address).then(fetched, () => null));
  if (!file) return;
  const reader = new FileReader();
  await new Promise((onload) => Object.assign(reader, { onload }).readAsDataURL(file));
  const face = `@font-face { font-family: "Embedded Hangul"; src: url(${reader.result}) format("woff2"); }`;
  picture.prepend(shape("style", {}, face));
  picture.setAttribute("font-family", `Embedded Hangul, ${families}`);
}

async function painted(file, width, height) {
  const image = new Image();
  const address = URL.createObjectURL(file);
  try {
    image.src = address;
    await image.decode();
    const scale = Math.min(PNG_SCALE, Math.sqrt(MOST_PIXELS / (width * height)));
    const [wide, high] = [width, height].map((pixels) => Math.round(pixels * scale));
    const canvas = Object.assign(document.createElement("canvas"), { width: wide, height: high });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function offer(file, name) {
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(file),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
