// Words and numbers of one step of decoding. The wrapper puts this text before that of steps.js.
/** The weights of `data` as numbers again: row t of `cross` has S of them, row t of `self` has t + 1. */
function unpacked(data) {
  const weights = (text) => {
    if (text === null) return null;
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return Float32Array.from(new Uint16Array(bytes.buffer), (units) => units / data.weight_unit);
  };
  return { ...data, cross: weights(data.cross), self: weights(data.self) };
}

/** The content of step `row`, counted from 0: all words and numbers, for the page and for a picture. */
function seenAt(data, row) {
  const { texts, source, target, changes } = data;
  const begin = Math.max(0, row - RECENT);
  const isNew = (place) => changes.some((change) => change.start <= place && place < change.stop);
  const isWrong = (place) =>
    changes.some((change) => change.source_start <= place && place < change.source_end);
  const coming = target.slice(row + 1, Math.max(row + 1, RECENT));
  const looked = data.cross?.subarray(row * source.length, (row + 1) * source.length);
  const inputs = [data.start, ...target.slice(0, -1)];
  const own = data.self?.subarray((row * (row + 1)) / 2, ((row + 1) * (row + 2)) / 2);
  const seen = {
    name: nameOf(data, target[row]),
    written: between(begin, row + 1).map((place) => {
      const changed = isNew(place);
      return { token: target[place] === SPACE && place < row && !changed ? " " : target[place], changed };
    }),
    earlier: begin ? filled(texts.steps_earlier, { count: begin }) : "",
    rest: coming.join("").replaceAll(SPACE, " "),
    ...candidatesAt(data, row),
    decision: decisionAt(data, row),
    source: looked && strip(data, source, looked, isWrong),
    // A position of the decoder's input holds the token that the row before it produced.
    self: own ? strip(data, inputs, own, (place) => isNew(place - 1), true) : null,
  };
  return { ...seen, words: wordsOf(data, row, seen) };
}

/** The two panels of bars of a step. */
function panelsOf({ texts }, { candidates, note, decision }) {
  const odds = [...candidates, ...decision.bars].some(({ text }) => text.includes("("));
  const notes = [decision.note, odds && texts.steps_odds].filter(Boolean);
  return [
    { name: "candidates", title: texts.steps_candidates, bars: candidates, note },
    { name: "decision", ...decision, note: notes.join(" ") },
  ];
}

function candidatesAt(data, row) {
  const { texts } = data;
  const produced = data.produced[row];
  const rows = data.alternatives[row].map((token, i) => {
    const probability = data.alternative_probabilities[row][i];
    const chosen = i === produced;
    // The produced token is known by its character, also where the network wrote "outside".
    const place = chosen || token === OUTSIDE ? null : i; // of a candidate that could be written instead
    return { token: chosen ? data.target[row] : token, probability, text: share(probability), chosen, place };
  });
  const probability = data.probabilities[row];
  if (produced < 0)
    rows.push({ token: data.target[row], probability, text: share(probability), chosen: true });
  for (const one of rows) if (one.chosen) one.note = texts.steps_produced;
  const [best] = rows;
  const note = best.chosen
    ? ""
    : filled(texts.steps_less_probable, {
        best: nameOf(data, best.token),
        best_probability: best.text,
        token: nameOf(data, data.target[row]),
        probability: share(probability),
      });
  return { candidates: rows, note };
}

/** Fixing against keeping where a change begins; elsewhere the probability of the produced token. */
function decisionAt(data, row) {
  const { texts, changes, target } = data;
  const change = changes.find(({ start, end }) => start <= row && row < end);
  if (change?.start === row && change.fix !== null) {
    const length = change.end - change.start;
    const here = data.probabilities.slice(change.start, change.end).reduce((one, other) => one * other);
    const notes = length > 1 ? [filled(texts.steps_fix_product, { count: length })] : [];
    if (Math.abs(here - change.fix) > 0.01) notes.push(texts.steps_fix_elsewhere);
    return {
      title: filled(texts.steps_change, { change: change.label }),
      note: notes.join(" "),
      bars: [
        { token: texts.steps_fix, probability: change.fix, text: share(change.fix), chosen: true },
        { token: texts.steps_keep, probability: change.keep, text: share(change.keep), place: KEEP },
      ],
    };
  }
  const probability = data.probabilities[row];
  const token = nameOf(data, target[row]);
  const bars = [{ token, probability, text: share(probability), chosen: true }];
  if (row === target.length - 1) return { title: texts.steps_ending, note: "", bars };
  if (!change) return { title: texts.steps_copying, note: "", bars };
  const values = { change: change.label, number: row - change.start + 1, count: change.end - change.start };
  return { title: filled(texts.steps_inside, values), note: "", bars };
}

/** One row of attention as cells. Keys beyond `weights` are those not written yet; far ones are folded. */
function strip(data, tokens, weights, isChanged, readsItself = false) {
  const { texts } = data;
  const order = [...weights.keys()].sort((one, other) => weights[other] - weights[one]);
  const strongest = order.slice(0, 3).filter((place, rank) => rank === 0 || weights[place] >= LEAST);
  const described = (place) =>
    filled(texts.steps_weight, {
      token: nameOf(data, tokens[place]),
      position: place + 1,
      weight: weights[place].toFixed(3),
    });
  const near = readsItself ? [...strongest, weights.length - 1] : strongest;
  const isShown = (place) =>
    tokens.length <= (data.whole ?? WHOLE) || near.some((other) => Math.abs(other - place) <= AROUND);
  const items = [];
  for (let place = 0; place < tokens.length; place++) {
    const hatched = place >= weights.length;
    const weight = hatched ? 0 : weights[place];
    const last = items.at(-1);
    if (isShown(place)) {
      const rank = strongest.indexOf(place) + 1;
      items.push({
        from: place,
        weight,
        rank,
        hatched,
        changed: !hatched && isChanged(place),
        sign: hatched ? "" : tokens[place],
        number: rank ? weight.toFixed(3) : "",
        title: hatched ? texts.steps_not_written : described(place),
      });
    } else if (last?.folded && last.hatched === hatched) {
      last.folded += 1;
      last.weight += weight;
    } else items.push({ from: place, weight, rank: 0, hatched, folded: 1 });
  }
  for (const item of items) if (item.folded) nameFolded(texts, item);
  const spoken = strongest.map(described).join(", ");
  return { items, spoken, strongest, weights, tokens };
}

function nameFolded(texts, item) {
  item.sign = `⋯${item.folded}`;
  item.number = item.hatched ? "" : item.weight.toFixed(3);
  item.title = item.hatched
    ? texts.steps_not_written
    : filled(texts.steps_folded, { count: item.folded, weight: item.number });
}

function wordsOf(data, row, seen) {
  const { texts } = data;
  const other = seen.candidates.find((one) => !one.chosen);
  const probability = share(data.probabilities[row]);
  const likeliest = { other: nameOf(data, other.token), other_probability: other.text };
  const said = [filled(texts.steps_words, { step: row + 1, token: seen.name, probability, ...likeliest })];
  for (const name of ["source", "self"].filter((name) => seen[name])) {
    const { strongest, weights, tokens } = seen[name];
    const [place] = strongest;
    const values = { token: nameOf(data, tokens[place]), weight: weights[place].toFixed(3) };
    said.push(filled(texts[`steps_words_${name}`], values));
  }
  return said.join(" ");
}

function nameOf({ names, texts }, token) {
  return Object.hasOwn(names, token) ? names[token] : filled(texts.token, { token });
}

const share = (probability) => probabilityText(probability);

/** The colour of a weight in 0..1 on a scale of hexadecimal colours, as CSS. */
function shade(scale, weight) {
  const at = Math.min(Math.max(weight, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  const [from, to] = [channels(scale[low]), channels(scale[low + 1])];
  return `rgb(${from.map((value, i) => Math.round(value + (to[i] - value) * (at - low))).join(", ")})`;
}

function channels(colour) {
  if (colour.startsWith("rgb")) return colour.match(/\d+/g).map(Number);
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
}

/** Black or white, whichever is easier to read on `colour` (relative luminance of WCAG 2). */
function inkOn(colour) {
  const [red, green, blue] = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}
