"""Readers of files: prose may be corrected, and every other byte stays.

Files are generated of fragments. Where a fragment has ○, a wrong word becomes the right one, which is longer
and holds a space. Everywhere else, in names, addresses, code and markup, it has to stay.
"""

import json
import random
from itertools import pairwise, zip_longest
from pathlib import Path

import pytest

from service.files import reader_of

WRONG, RIGHT = "안되요", "안 돼요"
PROSE = (WRONG, f"글이 {WRONG}", f"{WRONG}.", f"가나, {WRONG}!")
INLINE = (
    *("○", "**○**", "_○_", "~~○~~", "가**○**나", r"\*○\*", r"\[○\]", "<b title='a > 안되요'>○</b>"),
    *("`안되요`", "``안되요 ` 안되요``", r"\`○", r"$\text{안되요}$", r"\text{안되요}", "&nbsp;○&amp;"),
    *("https://a.kr/안되요?b=안되요", "<https://a.kr/안되요>", "<안되요@a.kr>", "글 <!-- a > 안되요 -->○"),
    *('[○](안되요.md "안되요) 안되요")', "[○](<안되요 안되요.md> '안되요')", "[○](a(안되요(안되요)).md)"),
    *("[○](안되요.md\n'안되요')", "![안되요](안되요.png)", "[![안되요](a.png)](안되요.md)", "[글이 ○]"),
    *("[○][안되요]", "[안되요][]", "[안되요]을", "[**안되요** 2]", "![안되요][안되요]", "글[^안되요]"),
    *(
        "[[안되요 파일]]",
        "[[안되요|○]]",
        "![[안되요.png]]",
        "{% 안되요 %}",
        '{{ref("안되요")}}',
        "[글이 ○]{.안되요}",
    ),
)
BLOCKS = (
    *("○", "# ○", "○\n===", "> ○\n> ○", "- ○\n  ○\n\n  ○\n    1. ○", "* [ ] ○\n* [x] ○", "글\n: ○"),
    *("| ○ | a \\| ○ |\n|---|:-:|\n| ○ | ○ |", ":::tip\n○\n:::", "> [!NOTE]\n> ○", '!!! note "○"\n    ○'),
    *("[^안되요]: ○", "[^1]: ○\n[다른 안되요]: 안되요.md", "*[안되요]: ○", "# 안되요 1\n\n[○](#안되요-1)"),
    *(
        "```js\n안되요\n```",
        "~~~\n안되요\n```\n~~~",
        "가\n\n    안되요",
        "<div>\n안되요\n</div>",
        "$$\n안되요\n$$",
    ),
    *("{% highlight js %}\n안되요\n\n안되요\n{% endhighlight %}", "$$\n안되요\n\n안되요\n$$"),
    "{{< highlight js >}}\n안되요\n\n안되요\n{{< /highlight >}}",
    *("<!-- 안되요\n\n안되요 -->", "<!-- see-attention: off -->\n\n안되요\n\n<!-- see-attention: on -->"),
)
FRONT = ("", "---\ntitle: 안되요\n---\n", "+++\ntitle = '안되요'\n+++\n", "\ufeff---\n안되요: 안되요\n---\n")
DEFINITIONS = "\n\n[안되요]: https://a.kr/안되요 '안되요'\n[**안되요** 2]: <안되요 안되요>\n"
FORMATS = {  # by ending: beginning, fragments, separator, end
    ".mdx": (
        "import 안되요 from '안되요'\nexport const a = {b: '안되요'}\n\n",
        (
            "{/* 안되요 */}",
            "○ <Tab 이름='안되요' f={() => g({a: '안되요'})}>○</Tab>",
            "{a && {b: '안되요'}}번 ○",
        ),
        "\n\n",
        "\n",
    ),
    ".txt": ("", ("○\n○", "○", "- ○"), "\n\n", "\n"),
    ".po": (
        'msgid ""\nmsgstr ""\n"Language: 안되요\\n"\n\n',
        (
            '# 안되요\n#: 안되요.c:1\n#, fuzzy\n#| msgid "안되요"\nmsgid "안되요"\nmsgstr "○"\n',
            'msgid ""\n"안되요"\nmsgstr ""\n"○\\n"\n"<b>○</b> %s {안되요} %(안되요)s"\n',
            'msgctxt "안되요"\nmsgid "안되요"\nmsgid_plural "안되요"\nmsgstr[0] "○"\nmsgstr[1] "\\"○\\""\n',
            '#~ msgid "안되요"\n#~ msgstr "안되요"\n',
        ),
        "\n",
        "",
    ),
    ".srt": (
        "",
        (
            "1\n00:00:01,000 --> 00:00:02,000\n○\n- <i>○</i>\n",
            "2\n00:00 --> 00:03 X:안되요\n{\\an8}○\n",
        ),
        "\n",
        "",
    ),
    ".json": (
        "{\n  ",
        ('"안되요": "○"', '"a": ["○", {"안되요" : "\\u0041 ○ %1$s %(안되요)s {안되요}"}, 1.50, null]'),
        ",\n\t",
        "\n}",
    ),
    ".xml": (
        "<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY 안되요 '안되요'>]>\n<a>",
        (
            "<!-- <string>안되요</string> --><string a='안되요'>○ <b a='안되요'>○</b>&lt;○&#54620;</string>",
            "<item>○</item><string><![CDATA[○]]></string><string a='안되요'/>",
            "<string translatable='false'>안되요</string><안되요>안되요</안되요>",
            "<value>○ &안되요;</value><source>안되요</source><target>○ <x id='안되요'/>○</target>",
        ),
        "\n",
        "</a>",
    ),
}


def template(rng: random.Random, ending: str) -> str:
    """A file with ○ for prose."""
    begin, parts, between, end = FORMATS.get(ending, ("", (), "\n\n", ""))
    if ending in (".md", ".mdx"):
        begin, parts, end = begin or rng.choice(FRONT), (*parts, *BLOCKS), DEFINITIONS
    fragments = rng.choices(parts, k=rng.randrange(1, 7))
    if ending in (".md", ".mdx"):
        fragments = [_with_inline(rng, each) for each in fragments]
    return begin + between.join(fragments) + end


def _with_inline(rng: random.Random, block: str) -> str:
    fitting = [each for each in INLINE if block == "○" or not any(sign in each for sign in "|\n")]
    parts = block.split("○")
    filled = (" ".join(rng.choices(fitting, k=rng.randrange(1, 4))) for _ in parts[1:])
    return "".join(text for pair in zip_longest(parts, filled, fillvalue="") for text in pair)


def both(rng: random.Random, made: str) -> tuple[str, str]:
    """The file with mistakes, and without them."""
    parts = made.split("○")
    filled = [rng.choice(PROSE) for _ in parts[1:]]
    wrong, right = (
        "".join(text for pair in zip_longest(parts, prose, fillvalue="") for text in pair)
        for prose in (filled, [each.replace(WRONG, RIGHT) for each in filled])
    )
    return wrong, right


def corrected(text: str, ending: str) -> str:
    """The text with the right word wherever a change is allowed."""
    pieces = [piece for document in reader_of(Path(f"a{ending}"))(text) for piece in document.pieces]
    prose = sorted((a, b) for a, b, read_as in pieces if text[a:b] == read_as)
    assert all(before[1] <= after[0] for before, after in pairwise(prose))
    for start, end in reversed(prose):
        text = text[:start] + text[start:end].replace(WRONG, RIGHT) + text[end:]
    return text


@pytest.mark.parametrize("ending", [".md", *FORMATS])
def test_only_prose_changes_and_every_other_byte_stays(ending):
    rng = random.Random(60)
    for _ in range(300):
        wrong, right = both(rng, template(rng, ending))
        for end in ("\n", "\r\n"):
            assert corrected(wrong.replace("\n", end), ending) == right.replace("\n", end)


def test_only_the_prose_of_a_notebooks_markdown_changes():
    rng = random.Random(60)
    for _ in range(100):
        cells = [both(rng, template(rng, ".md").lstrip("\ufeff")) for _ in range(3)]
        written = [
            json.dumps(_notebook([cell[i] for cell in cells]), ensure_ascii=False, indent=1) for i in (0, 1)
        ]
        assert corrected(written[0], ".ipynb") == written[1]


def _notebook(sources: list[str]) -> dict:
    code = {"cell_type": "code", "source": ["안되요 = '안되요'"], "outputs": [{"text": ["안되요"]}]}
    prose = [
        {
            "source": text.splitlines(keepends=True) if number else text,
            "cell_type": "markdown",
            "metadata": {},
        }
        for number, text in enumerate(sources)
    ]
    return {"cells": [prose[0], code, *prose[1:]], "metadata": {"안되요": "안되요"}, "nbformat": 4}
