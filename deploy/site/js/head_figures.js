// A square and a point for each head, as viz/head_mosaic.py and viz/effect_scatter.py. `template`: that figure with other numbers.
import { upTo } from "./counting.js";

const isSame = (one, other) => String(one) === String(other);
const signed = (value) => `${value < 0 || Object.is(value, -0) ? "-" : "+"}${Math.abs(value).toFixed(3)}`;

/** `effect`: of each head in the order of the template's squares; `chosen`: heads [kind, layer, head] that are framed. */
export function filledMosaic({ spec, ...rest }, { effect, chosen }) {
  const squares = spec.data.at(-1);
  const largest = Math.max(...effect.map(Math.abs)) || 1;
  const kinds = [...new Set(squares.customdata.map(([kind]) => kind))];
  const layers = 1 + Math.max(...squares.customdata.map(([, layer]) => layer));
  const grid = (kind) =>
    upTo(layers).map((row) => effect.filter((_, i) => squares.customdata[i][0] === kind && squares.customdata[i][1] === row));
  const data = spec.data.slice(0, -1).map((part, number) => ({ ...part, z: grid(kinds[number]), zmin: -largest, zmax: largest }));
  const text = squares.text.map((told, i) => told.replace(/<b>[^<]*<\/b>$/, `<b>${signed(effect[i])}</b>`));
  const frames = chosen.map((head) => {
    const at = squares.customdata.findIndex((each) => isSame(each, head));
    const [x, y] = [squares.x[at], squares.y[at]];
    return { ...spec.layout.shapes[0], x0: x - 0.5, x1: x + 0.5, y0: y - 0.5, y1: y + 0.5 };
  });
  return { ...rest, spec: { data: [...data, { ...squares, text }], layout: { ...spec.layout, shapes: frames } } };
}

/** `attention`, `effect`: of each of `heads`. */
export function filledScatter({ spec, ...rest }, { heads, attention, effect, chosen }) {
  const data = spec.data.map((cloud) => {
    const places = cloud.customdata.map((head) => heads.findIndex((each) => isSame(each, head)));
    const width = cloud.customdata.map((head) => (chosen.some((each) => isSame(each, head)) ? 3 : 0));
    const marker = { ...cloud.marker, line: { ...cloud.marker.line, width } };
    return { ...cloud, x: places.map((i) => attention[i]), y: places.map((i) => effect[i]), marker };
  });
  return { ...rest, spec: { ...spec, data } };
}
