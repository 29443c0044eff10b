// Picture of one decoding step, to be saved as a file. Sizes are in pixels.
const PICTURE = { width: 960, margin: 24, cell: 44, line: 26, gap: 10 };

/** One step as a drawing of its own: the text, the candidates, the decision, both strips. */
function pictureOf(data, seen) {
  const { colours, texts, place } = data;
  const { width, margin } = PICTURE;
  const svg = shape("svg", { "font-size": 16, fill: colours.text });
  let y = margin;
  const write = (text, attributes = {}) => {
    for (const line of wrapped(text, (width - 2 * margin) / ((attributes["font-size"] ?? 16) * 0.95))) {
      y += PICTURE.line;
      svg.append(shape("text", { x: margin, y, ...attributes }, line));
    }
  };
  const quiet = { fill: colours.quiet_text, "font-size": 14 };
  const head = (text) => {
    y += PICTURE.gap;
    write(text, quiet);
  };
  write(seen.words);
  head(texts.steps_written);
  write(seen.earlier + seen.written.map(({ token }) => token).join(""), { "font-size": 20 });
  for (const { title, bars, note } of panelsOf(data, seen)) {
    head(title);
    for (const row of bars) y = pictureBar(svg, row, y, colours);
    write(note, quiet);
  }
  for (const name of ["source", "self"].filter((each) => seen[each])) {
    head(filled(texts[`steps_${name}`], { place }));
    y = pictureStrip(svg, seen[name], y + PICTURE.gap, colours);
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${y + margin}`);
  return svg;
}

function pictureBar(svg, { token, probability, text, chosen, note }, y, { sequential, text: ink }) {
  const [left, length, base] = [220, 480, y + PICTURE.line];
  const bar = (width, look) => shape("rect", { x: left, y: base - 14, height: 16, width, ...look });
  svg.append(
    shape("text", { x: PICTURE.margin, y: base, "font-weight": chosen ? 700 : 400 }, token),
    bar(Math.max(length * probability, 1), { fill: sequential[chosen ? 4 : 2] }),
    bar(length, { fill: "none", stroke: ink, "stroke-opacity": 0.3 }),
    shape("text", { x: left + length + 12, y: base }, `${text} ${note ?? ""}`),
  );
  return base;
}

function pictureStrip(svg, { items }, top, colours) {
  const { width, margin, cell } = PICTURE;
  const perLine = Math.floor((width - 2 * margin) / cell);
  items.forEach((item, i) => {
    const x = margin + (i % perLine) * cell;
    const y = top + Math.floor(i / perLine) * cell;
    const plain = item.hatched || item.folded;
    const fill = plain ? colours.gap : shade(colours.sequential, item.weight);
    const box = { x: x + 1, y: y + 1, width: cell - 2, height: cell - 2, fill };
    const edge = { stroke: item.rank ? colours.text : colours.grid, "stroke-width": item.rank ? 2 : 1 };
    const ink = { x: x + cell / 2, "text-anchor": "middle", fill: plain ? colours.text : inkOn(fill) };
    svg.append(
      shape("rect", { ...box, ...edge, "stroke-dasharray": item.hatched ? "3 3" : "none" }),
      shape("text", { ...ink, y: y + 20, "text-decoration": item.changed ? "underline" : "none" }, item.sign),
      shape("text", { ...ink, y: y + 37, "font-size": 12 }, item.number),
    );
  });
  return top + Math.ceil(items.length / perLine) * cell;
}

/** `text` in pieces of at most `limit` characters, cut at blanks where there are any. */
function wrapped(text, limit) {
  const found = [];
  for (let rest = text; rest;) {
    const cut = rest.length > limit ? rest.lastIndexOf(" ", limit) : rest.length;
    const end = cut > 0 ? cut : Math.floor(limit);
    found.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return found;
}
