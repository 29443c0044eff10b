"""The patches of an image as the grid that they are cut from: what one row of attention gives to each of them.

R rows and C columns of patches.
"""

import json
import zlib
from base64 import b64encode
from typing import Any

import numpy as np

from viz.attention import MapTexts, attention_heatmap
from viz.browser.plot import plot_data
from viz.browser.texts import Say
from viz.weight_colours import FAINT

_MOST_PIXELS = 384  # of a side of the image in a page
_OVER_IMAGE = 0.65  # how opaque weights are over it


def patches_data(say: Say, grid: tuple[int, int] | None, image: Any, theme: str) -> dict | None:
    """The figure without its weights, which ``explore.js`` fills in; None without a ``grid`` (R, C).

    Raises ValueError for an image without a grid, and for what is no image.
    """
    if grid is None:
        if image is not None:
            raise ValueError("an image needs a trace with patches (source_grid), received one without")
        return None
    rows, columns = ([str(number + 1) for number in range(count)] for count in grid)
    texts = MapTexts(
        query_axis=say("patch_row"),
        key_axis=say("patch_column"),
        query=say("patch_row"),
        key=say("patch_column"),
        weight=say("hover_weight"),
        faint=say("heatmap_faint", floor=FAINT),
    )
    figure = attention_heatmap.specification(
        np.zeros(grid, np.float32), rows, columns, texts=texts, theme=theme
    )
    data = plot_data(say, figure, label=say("explore_patches"), file="patches", theme=theme)
    spec = json.loads(data["spec"])
    spec["data"][0].pop("z")
    if image is not None:
        spec["data"][0] |= {"opacity": _OVER_IMAGE, "xgap": 0, "ygap": 0}
        spec["layout"]["images"] = [_underlay(png(pixels_of(image)), grid)]
    return {"grid": list(grid), "map": data | {"spec": spec}}


def _underlay(picture: bytes, grid: tuple[int, int]) -> dict:
    return {
        "source": f"data:image/png;base64,{b64encode(picture).decode()}",
        "xref": "x",
        "yref": "y",
        "x": 0.5,
        "y": 0.5,
        "sizex": grid[1],
        "sizey": grid[0],
        "sizing": "stretch",
        "layer": "below",
    }


def pixels_of(image: Any) -> np.ndarray:
    """(height, width, 3) uint8 of an image of Pillow or an array: grey or RGB, bytes or floats in 0..1.

    >>> pixels_of(np.ones((2, 2))).shape
    (2, 2, 3)
    """
    found = np.asarray(image)
    if found.ndim == 2:
        found = np.repeat(found[..., None], 3, axis=-1)
    if found.ndim != 3 or found.shape[-1] not in (3, 4) or not found.size:
        raise ValueError(f"an image should be (height, width) or (height, width, 3), received {found.shape}")
    if found.dtype.kind == "f":
        found = np.rint(np.clip(found, 0, 1) * 255)
    step = -(-max(found.shape[:2]) // _MOST_PIXELS)
    return np.ascontiguousarray(found[::step, ::step, :3].astype(np.uint8))


def png(pixels: np.ndarray) -> bytes:
    """(height, width, 3) uint8 as a file (ISO/IEC 15948).

    >>> png(np.zeros((1, 1, 3), np.uint8))[:4]
    b'\\x89PNG'
    """
    height, width = pixels.shape[:2]
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    parts = (b"IHDR", size + b"\x08\x02\0\0\0"), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
        for name, data in parts
    )
