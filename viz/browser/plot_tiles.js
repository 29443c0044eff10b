// Layout of a picture of small tiles that fills the room it is given; see plot_fit.js.

const FEWEST_EMS = 2.7; // above tiles with numbers: of the columns' numbers, and of their name
const EDGE = 4; // pixels around tiles where nothing is written, and no button appears
const FRAME_LINE = 3; // pixels, as head_grid.py has them
const LEAST_SHARE = 0.0125; // of the window's width: smaller type cannot be read from the last row

/** {figure, width, height} of tiles in `width` pixels, with `room` pixels down to the window's edge. */
function fittedTiles(figure, width, room) {
  const { layout } = figure;
  const margin = marginsOfTiles(layout);
  const { t, b, l, r } = margin;
  const whole = (width - l - r) * layout.meta.ratio + t + b; // at which the picture is as wide as its room
  const isScrolledTo = window.innerWidth < PHONE || !namesFit(layout, width - l - r, room - t - b);
  const height = Math.max(LEAST_BOX, Math.min(isScrolledTo ? whole : room, whole));
  const inside = [width - l - r, height - t - b];
  const placed = { ...numbersApart(unnamed(layout), ...inside), ...namesBetweenFrames(layout, ...inside), margin };
  return resized({ ...figure, layout: { ...layout, ...placed } }, width, height);
}

/** In a lecture no room is above tiles that have names of their own. */
function unnamed(layout) {
  const { xaxis } = layout;
  if (!inLecture() || xaxis.showticklabels !== false) return layout;
  return merged(layout, { xaxis: { title: { text: "" } } });
}

/** In a lecture all room is for the tiles: no buttons appear above them, and only numbers need room there. */
function marginsOfTiles({ margin, xaxis }) {
  const names = Math.max(margin.t, FEWEST_EMS * sized(FIGURE_TYPE));
  if (!inLecture()) return { ...margin, t: names + (buttonsStay() ? TOOLBAR : 0) };
  return { ...margin, t: xaxis.showticklabels === false ? EDGE : names, r: EDGE, b: EDGE };
}

const leastName = () => (inLecture() ? LEAST_SHARE * window.innerWidth : 9);

/** Pixels between two frames, where names stand. */
const betweenFrames = ({ meta, ...axes }, ...size) => meta.gap * pixelsOfCell(axes, ...size) - FRAME_LINE;

/** Whether tiles in this room have names between frames that can be read, or none. */
function namesFit(layout, ...size) {
  return !layout.annotations?.length || !layout.meta.gap || betweenFrames(layout, ...size) >= leastName();
}

/** Names above tiles, no higher than the gap between two frames. */
function namesBetweenFrames(layout, ...size) {
  const { annotations, meta } = layout;
  if (!annotations?.length || !meta.gap) return {};
  const high = Math.max(leastName(), betweenFrames(layout, ...size));
  const lower = (font) => ({ ...font, size: Math.min(font.size, high) });
  return { annotations: annotations.map((name) => ({ ...name, font: lower(name.font) })) };
}

function pixelsOfCell({ xaxis, yaxis }, width, height) {
  const long = ({ range: [start, end] }) => Math.abs(end - start);
  return Math.min(width / long(xaxis), height / long(yaxis));
}

/** The axes of a picture of square cells; numbers that would stand on each other are left out evenly. */
function numbersApart({ xaxis, yaxis, font }, width, height) {
  if (!xaxis?.range || !yaxis?.range) return {};
  const cell = pixelsOfCell({ xaxis, yaxis }, width, height);
  const apart = (axis, ems) => {
    const { tickvals, ticktext, tickfont } = axis;
    if (!(ticktext?.length > 1) || ticktext.some((text) => !/^\d+$/.test(text))) return axis;
    const between = Math.abs(tickvals[1] - tickvals[0]) * cell;
    const step = Math.max(1, Math.ceil((ems * (tickfont?.size ?? font?.size ?? FIGURE_TYPE)) / between));
    const kept = (all) => Array.from(all).filter((_, i) => i % step === 0);
    return { ...axis, tickvals: kept(tickvals), ticktext: kept(ticktext), tickangle: 0 };
  };
  return { xaxis: apart(xaxis, 1.5), yaxis: apart(yaxis, 1) };
}
