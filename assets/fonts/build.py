"""Build of static/NotoSansKR-subset.woff2, the Hangul font that the app serves itself.

    pip install fonttools brotli
    python assets/fonts/build.py /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc

The source is "Noto Sans CJK" (SIL Open Font License 1.1, static/OFL.txt), face "Noto Sans CJK KR"; Debian and
Ubuntu package it as fonts-noto-cjk. Kept are the 11,172 syllables of Unicode, the jamo that are typed alone,
Latin letters, and the punctuation and marks that the pages use; hanja come from the reader's own fonts.
"""

import sys
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.ttLib import TTCollection

TARGET = Path(__file__).parents[2] / "static" / "NotoSansKR-subset.woff2"
FACE = "Noto Sans CJK KR"
CHARACTERS = [
    *range(0x20, 0x7F),  # ASCII
    *range(0xA0, 0x180),  # Latin-1 and Latin Extended-A
    *range(0x2010, 0x2027),  # dashes, quotes, ellipsis
    *range(0x3000, 0x3020),  # CJK punctuation
    *range(0x3131, 0x318F),  # jamo that stand alone
    *range(0xAC00, 0xD7A4),  # syllables
    *map(ord, "␣←→↑↓−×÷√π≈≠≤≥·•※₩€"),
]


# The font's own root sign is as wide as a syllable, with a bar that does not reach what follows: √d looked
# broken. Ours ends where the bar begins.
ROOT_SIGN = (
    (603, 880),
    (560, 880),
    (270, 47),
    (171, 307),
    (34, 114),
    (60, 95),
    (130, 194),
    (238, -86),
    (268, -86),
)
ROOT_WIDTH = 600


def build(collection: Path, target: Path) -> int:
    """Write the subset of ``collection`` to ``target``; returns its size in bytes."""
    fonts = TTCollection(collection).fonts
    font = next((font for font in fonts if font["name"].getDebugName(1) == FACE), None)
    if font is None:
        raise ValueError(f"no face {FACE!r} in {collection}")
    options = subset.Options(flavor="woff2", layout_features=["kern"], hinting=False, desubroutinize=True)
    options.drop_tables += ["TSI0", "TSI1", "TSI2", "TSI3", "TSI5", "DSIG", "VORG", "vhea", "vmtx", "BASE"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    redraw_root(font)
    font.flavor = "woff2"
    font.save(target)
    return target.stat().st_size


def redraw_root(font: Any) -> None:
    """Replace the glyph of √ by ROOT_SIGN."""
    name = font.getBestCmap()[ord("√")]
    glyphs = font["CFF "].cff.topDictIndex[0].CharStrings
    private = glyphs[name].private
    pen = T2CharStringPen(ROOT_WIDTH - private.nominalWidthX, None)
    pen.moveTo(ROOT_SIGN[0])
    for point in ROOT_SIGN[1:]:
        pen.lineTo(point)
    pen.closePath()
    glyphs[name] = pen.getCharString(private=private, globalSubrs=glyphs[name].globalSubrs)
    font["hmtx"][name] = (ROOT_WIDTH, min(x for x, _ in ROOT_SIGN))


if __name__ == "__main__":
    print(f"{TARGET.name}: {build(Path(sys.argv[1]), TARGET) / 1000:.0f} kB")
