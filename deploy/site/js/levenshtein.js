// The fewest edits between two texts (Levenshtein 1966), with the choices among equally few that RapidFuzz makes.

/** [{tag, start, end, first, last}] of what is equal, replaced, deleted and inserted: one[start:end] becomes other[first:last]. */
export function opcodes(one, other) {
  const blocks = [];
  let [at, to] = [0, 0];
  const equal = (a, b) => a > at && blocks.push({ tag: "equal", start: at, end: a, first: to, last: b });
  for (const [tag, a, b] of edits(one, other)) {
    equal(a, b);
    [at, to] = [a + (tag !== "insert"), b + (tag !== "delete")];
    const before = blocks.at(-1);
    if (before?.tag === tag && before.end === a && before.last === b) Object.assign(before, { end: at, last: to });
    else blocks.push({ tag, start: a, end: at, first: b, last: to });
  }
  equal(one.length, other.length);
  return blocks;
}

export function distance(one, other) {
  return edits(one, other).length;
}

/** [tag, place in one, place in other] of each edit, in order. */
function edits(one, other) {
  let skipped = 0;
  while (skipped < one.length && skipped < other.length && one[skipped] === other[skipped]) skipped += 1;
  let [col, row] = [one.length - skipped, other.length - skipped];
  while (col && row && one[skipped + col - 1] === other[skipped + row - 1]) [col, row] = [col - 1, row - 1];
  const width = col + 1;
  const cost = costs(one, other, skipped, col, row);
  const found = [];
  const note = (tag) => found.push([tag, skipped + col, skipped + row]);
  while (col && row) {
    if (cost[row * width + col] === cost[row * width + col - 1] + 1) {
      col -= 1;
      note("delete");
      continue;
    }
    row -= 1;
    if (row && cost[row * width + col] === cost[row * width + col - 1] - 1) {
      note("insert");
      continue;
    }
    col -= 1;
    if (one[skipped + col] !== other[skipped + row]) note("replace");
  }
  for (; col; note("delete")) col -= 1;
  for (; row; note("insert")) row -= 1;
  return found.reverse();
}

/** (rows + 1) x (columns + 1): how many edits the beginnings of both texts are apart. */
function costs(one, other, skipped, columns, rows) {
  const width = columns + 1;
  const cost = new Int32Array(width * (rows + 1));
  for (let col = 0; col < width; col += 1) cost[col] = col;
  for (let row = 1; row <= rows; row += 1) {
    cost[row * width] = row;
    for (let col = 1; col < width; col += 1) {
      const at = row * width + col;
      const same = one[skipped + col - 1] === other[skipped + row - 1];
      cost[at] = Math.min(cost[at - 1] + 1, cost[at - width] + 1, cost[at - width - 1] + !same);
    }
  }
  return cost;
}
