// Where the network looked: this change, and who is looked at; as ui/views/edits.py and ui/views/received.py.
import { filledBars } from "./bars.js";
import { confidence } from "./changes.js";
import { largestFirst, sum, upTo } from "./counting.js";
import { attentionOfChange, focusOf, leadingHeads } from "./edits.js";
import { axesOf, changedRows } from "./figures.js";
import { visibleToken } from "./labels.js";
import { inWords, percent, withWords } from "./wording.js";
import { pressed } from "./elements.js";

const AROUND = 8; // tokens that bars show on each side of a change

function bars(template, { say, sizes }, words, table) {
  return filledBars(withWords(template, { key: say("hover_key"), value: say("hover_weight"), outlined: "", ...words }), table, sizes);
}

/** The heads that looked at one change more than they usually look at such a place. */
export function thisChange(shared) {
  const { say, changes, chosen, trace, explorer, templates, sizes } = shared;
  if (!changes.length) return { reading: say("edits_none") };
  const change = chosen ?? changes.reduce((least, each) => (confidence(each) < confidence(least) ? each : least));
  const cross = explorer.data.kinds.find(({ kind }) => kind === "cross_attention");
  const heads = leadingHeads(cross, change, changes);
  const tokens = trace.sourceTokens;
  const { columns } = focusOf("cross_attention", change, tokens.length);
  const [start, end] = [Math.max(columns[0] - AROUND, 0), Math.min(columns.at(-1) + AROUND + 1, tokens.length)];
  const placeOf = ({ layer, head }) => explorer.place(cross, layer, head);
  const told = (head) => ({ place: placeOf(head), share: percent(say, head.share), usual: percent(say, head.usual) });
  const words = { tokens: say("key_cross_attention"), outlined: say("edits_outlined") };
  const table = {
    weights: heads.map((head) => attentionOfChange(cross, head, change).slice(start, end)),
    tokens: tokens.slice(start, end),
    names: heads.map((head) => say("edits_head", told(head))),
    outlined: columns.map((column) => column - start),
    first: start + 1,
  };
  const seen = visibleToken(columns.map((column) => tokens[column]).join(""), { ...sizes, TICK_LENGTH: 12 });
  const more = heads[0].share > heads[0].usual ? "edits_reading" : "edits_reading_less";
  const open = (head) => pressed(say("edits_open", { place: placeOf(head) }), () => explorer.choose({ kind: cross, view: "heatmap", layer: head.layer, head: head.head }));
  return {
    reading: say(more, { change: inWords(say, change), columns: seen, ...told(heads[0]) }),
    controls: heads.map(open),
    rows: [[{ name: "edits", label: inWords(say, change), data: bars(templates.edits, shared, words, table) }]],
    notes: [say("edits_caption"), ...(end - start < tokens.length ? [say("edits_window")] : [])],
  };
}

/** How much attention each token receives: the mean over the rows that may look at it. */
export function received(shared) {
  const { say, changes, chosen, trace, explorer } = shared;
  const { kind: { kind, shape: [, , rows, columns] } } = explorer;
  const isMasked = kind === "decoder_attention";
  const weights = explorer.weights();
  const column = (key) => upTo(rows).map((row) => weights[row * columns + key]);
  const allowed = (key) => (isMasked ? rows - key : rows);
  const found = upTo(columns).map((key) => sum(column(key)) / Math.max(allowed(key), 1));
  const most = largestFirst(found)[0];
  const even = sum(Array.from(weights)) / sum(upTo(columns).map(allowed));
  const keys = axesOf(kind, trace)[1];
  const place = explorer.place(explorer.kind);
  const table = { weights: [found], tokens: keys, names: [place], outlined: changedColumns(kind, chosen ? [chosen] : changes, keys.length), first: 1 };
  const words = { tokens: say(`key_${kind}`), value: say("received_mean"), outlined: say("received_changed") };
  return {
    reading: say("received_reading", {
      key: visibleToken(keys[most], shared.sizes),
      position: most + 1,
      weight: found[most].toFixed(2),
      times: (found[most] / even).toFixed(1),
      place,
    }),
    rows: [[{ name: "received", label: place, data: bars(shared.templates.received, shared, words, table) }]],
    notes: [say("received_note"), ...(isMasked ? [say("received_masked")] : [])],
  };
}

/** The keys that changes concern: what was read, or what was written and then read again. */
function changedColumns(kind, changes, count) {
  if (kind !== "decoder_attention") return [...changedRows(changes, "encoder_attention", count)].sort((one, other) => one - other);
  return [...changedRows(changes, kind, count)].map((row) => row + 1).filter((column) => column < count);
}
