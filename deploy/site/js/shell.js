// Fetches or unpacks what the page is made of. `window.part(name)` gives the bytes of a part of PARTS.

window.components = {}; // name of a script -> the function that it exports
window.register = (name) => (draw) => (window.components[name] = draw);

/** What Python packed with zlib. */
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** What Python packed with zlib and base64. */
window.unpacked = (text) => inflated(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));

/** Bytes that stand in the page as characters of windows-1252; see deploy/site/one_file.py. */
function bytesOf(text) {
  const codes = new Map(Array.from(HIGH, (character, i) => [character.charCodeAt(0), 128 + i]));
  const bytes = new Uint8Array(text.length);
  let size = 0;
  for (let i = 0; i < text.length; i += 1) {
    let code = text.charCodeAt(i);
    const escaped = code === ESCAPE;
    if (escaped) code = text.charCodeAt((i += 1));
    const byte = codes.get(code) ?? code;
    bytes[size] = escaped ? byte - SHIFT : byte;
    size += 1;
  }
  return bytes.subarray(0, size);
}

const received = {}; // name -> bytes so far
async function fetched(name) {
  const answer = await fetch(PARTS[name].file);
  if (!answer.ok) throw new Error(`${PARTS[name].file}: ${answer.status}`);
  const [bytes, reader] = [new Uint8Array(PARTS[name].size), answer.body.getReader()];
  received[name] = 0;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    bytes.set(chunk.value, received[name]);
    received[name] += chunk.value.length;
    window.onprogress_?.();
  }
  return bytes;
}

/** [bytes that have come, bytes in all] of some parts. */
window.progressOf = (names) => [names.reduce((sum, name) => sum + (received[name] ?? 0), 0), names.reduce((sum, name) => sum + PARTS[name].size, 0)];

const parts = {};
window.part = (name) =>
  (parts[name] ??= (async () => {
    const place = document.getElementById(`part-${name}`);
    if (!place) return inflated(await fetched(name));
    const bytes = bytesOf(place.textContent);
    place.remove(); // it would be kept twice
    return inflated(bytes);
  })());

// plot.js waits for this instead of fetching a file.
window.attentionPlotly = (async () => {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await window.part("library"));
  document.head.append(script);
  return window.Plotly;
})();
