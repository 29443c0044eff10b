// Unpacks what Python packed with zlib. The page does so with what it draws with, its worker with what it computes with.

/** The bytes of a packed stream. */
export async function inflated(stream) {
  return new Uint8Array(await new Response(stream.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
}

/**
 * The bytes of a part of the site. It lies at an `address`, or stands in the page as `text`, spelled as `spelling` says. `heard` is told
 * how many packed bytes have come.
 */
export async function unpackedPart({ address, text, spelling }, heard = () => {}) {
  if (text !== undefined) return inflated(new Response(bytesOf(text, spelling)).body); // in a file's worker WebKit streams no Blob
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  let size = 0;
  const counted = new TransformStream({
    transform(chunk, out) {
      heard((size += chunk.length));
      out.enqueue(chunk);
    },
  });
  return inflated(answer.body.pipeThrough(counted));
}

/** Bytes that stand in the page as characters of windows-1252; see deploy/site/one_file.py. */
function bytesOf(text, { high, escape, shift }) {
  const codes = Uint8Array.from({ length: 65536 }, (_, code) => code);
  Array.from(high, (character, i) => (codes[character.charCodeAt(0)] = 128 + i));
  const bytes = new Uint8Array(text.length);
  let size = 0;
  for (let i = 0; i < text.length; i += 1) {
    let code = text.charCodeAt(i);
    const escaped = code === escape;
    if (escaped) code = text.charCodeAt((i += 1));
    bytes[size] = escaped ? codes[code] - shift : codes[code];
    size += 1;
  }
  return bytes.subarray(0, size);
}
