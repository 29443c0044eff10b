"""What would a network of GPT-2's size cost the visitor's browser? Bytes, seconds to its first answer, megabytes.

    python benchmarks/larger_network.py [--tokens 8]

Other pages that open a network in the browser run GPT-2 small there (Transformer Explainer does, from 63 parts of 10 MiB). Neither its
weights nor its page are needed to time it, since the time does not depend on the values: this writes a graph of the same shape (12 layers of 12
heads, 768 wide, 50,257 tokens, the output layer's weights a second time as in theirs) with random weights, serves it in such parts
from this machine, and opens it with the runtime of our site as they do: all parts at once, one thread, the runtime's own
optimisations. No picture is drawn and no text is cut into tokens. In the same run our site is opened, too. Prints a Markdown table.
"""

import sys
import tempfile
from pathlib import Path

import click
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.browser_site import Row, first_answers, opened, private_megabytes, typed
from deploy.site import build
from deploy.site.runtime import PROGRAM, runtime
from tests.browser.chromium import launched
from tests.browser.site_pages import static_host

LAYERS, HEADS, WIDTH, VOCABULARY, POSITIONS = 12, 12, 768, 50257, 1024  # of GPT-2 small
PART = 10 * 2**20  # bytes
PAGE = "<!doctype html><meta charset=utf-8><script src=runtime.js></script>"
# Seconds until all parts are there, until the network is open, and of two passes over some tokens.
OPEN = """async ([parts, tokens, program, vocabulary]) => {
  const start = performance.now(), seconds = () => (performance.now() - start) / 1000;
  const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const found = await Promise.all(Array.from({ length: parts }, (_, part) => bytes(`network.part${part}`)));
  const fetched = seconds();
  const whole = new Uint8Array(found.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of found) { whole.set(part, at); at += part.length; }
  Object.assign(ort.env.wasm, { wasmBinary: await bytes(program), numThreads: 1, proxy: false });
  const session = await ort.InferenceSession.create(whole);
  const taken = [fetched, seconds()];
  const ids = new ort.Tensor("int64", BigInt64Array.from({ length: tokens }, (_, place) => BigInt(place)), [1, tokens]);
  for (let pass = 0; pass < 2; pass++) {
    const before = seconds();
    const { logits } = await session.run({ ids });
    if (logits.data.length !== vocabulary) throw new Error(String(logits.data.length));
    taken.push(seconds() - before);
  }
  return taken;
}"""


class _Graph:
    """Nodes and weights one after the other. A value is known by the name that each step returns."""

    def __init__(self) -> None:
        self.nodes: list = []
        self.weights: list = []
        self.rng = np.random.default_rng(1)

    def step(self, kind: str, *inputs: str, **attributes) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, values: np.ndarray) -> str:
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant(self.rng.normal(0, 0.02, shape).astype("float32"))

    def linear(self, x: str, width: int, units: int) -> str:
        return self.step("Add", self.step("MatMul", x, self.weight(width, units)), self.weight(units))

    def normalised(self, x: str) -> str:
        return self.step("LayerNormalization", x, self.weight(WIDTH), self.weight(WIDTH), axis=-1)

    def heads(self, x: str, order: list[int]) -> str:
        """(1, T, D) -> (1, H, T, D/H), or in another order."""
        shape = self.constant(np.array([1, -1, HEADS, WIDTH // HEADS]))
        return self.step("Transpose", self.step("Reshape", x, shape), perm=order)

    def attended(self, x: str, mask: str) -> tuple[str, str]:
        """(1, T, D) -> the layer's output (1, T, D), and its attention (1, H, T, T)."""
        query, key, value = (self.linear(x, WIDTH, WIDTH) for _ in range(3))
        scores = self.step("MatMul", self.heads(query, [0, 2, 1, 3]), self.heads(key, [0, 2, 3, 1]))
        attention = self.step("Softmax", self.step("Add", scores, mask), axis=-1)
        mixed = self.step("MatMul", attention, self.heads(value, [0, 2, 1, 3]))
        flat = self.step(
            "Reshape",
            self.step("Transpose", mixed, perm=[0, 2, 1, 3]),
            self.constant(np.array([1, -1, WIDTH])),
        )
        return self.linear(flat, WIDTH, WIDTH), attention


def gpt2_shaped() -> bytes:
    """A graph from ids (1, T) to the logits of the last token (1, 1, V) and the attention of the first layer (1, H, T, T)."""
    graph = _Graph()
    count = graph.step("Gather", graph.step("Shape", "ids"), graph.constant(np.array(1)))
    places = graph.step("Range", graph.constant(np.array(0)), count, graph.constant(np.array(1)))
    rows = graph.step("Unsqueeze", places, graph.constant(np.array([1])))
    hidden = graph.step("Cast", graph.step("Less", rows, places), to=TensorProto.FLOAT)
    mask = graph.step("Mul", hidden, graph.constant(np.array(-1e9, "float32")))
    x = graph.step(
        "Add",
        graph.step("Gather", graph.weight(VOCABULARY, WIDTH), "ids"),
        graph.step("Gather", graph.weight(POSITIONS, WIDTH), places),
    )
    first = ""
    for _ in range(LAYERS):
        added, attention = graph.attended(graph.normalised(x), mask)
        first = first or attention
        x = graph.step("Add", x, added)
        inner = graph.step("Gelu", graph.linear(graph.normalised(x), WIDTH, 4 * WIDTH))
        x = graph.step("Add", x, graph.linear(inner, 4 * WIDTH, WIDTH))
    last = graph.step("Gather", graph.normalised(x), graph.constant(np.array([-1])), axis=1)
    logits = graph.step("MatMul", last, graph.weight(WIDTH, VOCABULARY))
    for name, source in (("logits", logits), ("attention", first)):
        graph.nodes.append(helper.make_node("Identity", [source], [name]))
    made = helper.make_graph(
        graph.nodes,
        "gpt2_shaped",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, None])],
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1, VOCABULARY]),
            helper.make_tensor_value_info("attention", TensorProto.FLOAT, [1, HEADS, None, None]),
        ],
        graph.weights,
    )
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(made, opset_imports=opsets, ir_version=9).SerializeToString()


def _write(folder: Path) -> tuple[int, int]:
    """A page, the runtime and the network in parts; how many parts, and the bytes of all of it."""
    made, engine = gpt2_shaped(), runtime()
    parts = range(0, len(made), PART)
    for number, start in enumerate(parts):
        (folder / f"network.part{number}").write_bytes(made[start : start + PART])
    (folder / "index.html").write_text(PAGE)
    (folder / "runtime.js").write_text(engine.script)
    (folder / PROGRAM).write_bytes(engine.program)
    return len(parts), sum(each.stat().st_size for each in folder.iterdir())


def _larger(browser: Browser, folder: Path, tokens: int) -> list[Row]:
    parts, size = _write(folder)
    with static_host(folder) as address:
        page = opened(browser)
        page.goto(address)
        fetched, ready, first, second = page.evaluate(OPEN, [parts, tokens, PROGRAM, VOCABULARY])
        kept = private_megabytes(page)
        page.context.close()
    return [
        ("to fetch, MB", f"{size / 1e6:.0f}"),
        ("seconds until fetched from this machine; until open; first answer", f"{fetched:.1f}; {ready:.1f}; {ready + first:.1f}"),
        (f"a pass over {tokens} tokens, s", f"{second:.2f}"),
        ("private memory of the process, MB", f"{kept:.0f}"),
    ]  # fmt: skip


def _ours(browser: Browser, folder: Path) -> list[Row]:
    build.write_folder(build.make(), folder)
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    with static_host(folder) as address:
        page = opened(browser)
        stored, own = first_answers(page, address)
        [text], [pictures] = typed(page, ["오늘은 날씨가 조아서 산책했다."])
        kept = private_megabytes(page)
        page.context.close()
    return [
        ("to fetch, MB", f"{size / 1e6:.0f}"),
        ("seconds until the stored example is drawn; first answer, with its pictures", f"{stored:.1f}; {own:.1f}"),
        ("one more sentence after the typing pause: its text, its pictures, ms", f"{text:.0f}, {pictures:.0f}"),
        ("private memory of the process, MB", f"{kept:.0f}"),
    ]  # fmt: skip


def _tell(title: str, rows: list[Row]) -> None:
    click.echo(f"| {title} | |\n|---|---|")
    for name, value in rows:
        click.echo(f"| {name} | {value} |")
    click.echo()


@click.command()
@click.option("--tokens", default=8, show_default=True, help="Tokens of a pass of the larger network.")
def main(tokens: int) -> None:
    """Print both tables."""
    with sync_playwright() as playwright:
        browser = launched(playwright)
        with tempfile.TemporaryDirectory() as theirs, tempfile.TemporaryDirectory() as ours:
            _tell("GPT-2's size", _larger(browser, Path(theirs), tokens))
            _tell("this site", _ours(browser, Path(ours)))
        browser.close()


if __name__ == "__main__":
    main()
