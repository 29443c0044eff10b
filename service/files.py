"""File readers for Markdown, notebooks, string tables, gettext, subtitles: their prose.

Each gives ``Annotated`` documents, which keep their place in the file.

Code, addresses, keys and other markup are left alone, and so is all the rest of a file when its prose is
corrected. markdown-it-py parses Markdown's blocks by CommonMark.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from model.text.tokenizer import normalise
from service.annotated import Annotated, Piece

# Replaces code in a sentence. It has no certain reading, so a particle behind it keeps its form.
WORD = "X0"

_FRONT_MATTER = re.compile(r"\A\ufeff?(---|\+\+\+)\s*?\n.*?^\1[ \t\r]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_ROUND = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
_TITLE = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\([^()]*\))"""
_TARGET = rf"(?:\(\s*(?:<[^<>\n]*>|[^\s()]*+(?:{_ROUND})?[^\s()]*+)\s+{_TITLE}\s*\)|{_ROUND})"  # of a link
# Inside a paragraph of Markdown: code, formulas, addresses, braces and directives are read as a word, so that
# a particle behind them has one to follow; names, by which a link finds its target, as they are written,
# but no change may touch them; images, targets of links, tags, entities and emphasis as nothing.
_INLINE = re.compile(
    r"""
    (?P<word>
        (?P<code>`++).+?(?<!`)(?P=code)(?!`)
        | \$\$.+?\$\$ | \$[^\s$](?:[^$\n]*[^\s$])?\$ | \\\([^가-힣]+?\\\) | \\[A-Za-z]+(?:\{[^{}]*\})*
        | \bhttps?://[^\s<>)\]`]+ | <[a-z]+:[^>\s]+> | <[^>\s]+@[^>\s]+>
        | \{(?![.:#])(?:[^{}]|\{[^{}]*\})*\}
    )
    | (?m:^)\[(?!\^)[^\[\]\n]+\]:[^\S\n]*\S+(?:[^\S\n]+TITLE)?[^\S\n]*(?m:$)
    | (?P<name> \[\[[^\[\]|\n]*\]\](?!\() | (?m:^)\*?\[(?!\^)[^\[\]\n]+\]: )
    | \[\[[^\[\]|\n]*\|
    | !\[[^\]\n]*\](?:TARGET|\[[^\]\n]*\])?
    | (?:\](?=\()|\]\[[^\[\]]+\]|\[\^[^\[\]\s]*\])TARGET?
    | \[(?P<label>(?:\\.|[^\[\]\\])+)\](?:\[\]|(?!TARGET|\[[^\[\]]+\]))
    | <!--(?:(?!<!--).)*?--> | </?[A-Za-z!](?:"[^"]*"|'[^']*'|[^<>"'])*+> | </?[A-Za-z!][^<>]*>
    | (?P<escape>\\[!-/:-@\[-`{-~]) | \{[.:#][^{}]*\} | &\#?\w+; | [*~]+ | `+ | (?<!\w)_+ | _+(?!\w) | [\[\]]
    """.replace("TITLE", _TITLE).replace("TARGET", _TARGET),
    re.DOTALL | re.VERBOSE,
)
# Parts of Markdown that are left out whole, with blank lines in them: by a comment, code of Jekyll and Hugo,
# and formulas.
_IGNORED = re.compile(
    r"""
    <!--\s*see-attention:\s*off\s*-->.*?(?:<!--\s*see-attention:\s*on\s*-->|\Z)
    | \{%-?\s*(?P<block>highlight|raw)\b.*?\{%-?\s*end(?P=block)\b
    | \{\{[<%]\s*highlight\b.*?\{\{[<%]\s*/highlight\b
    | (?m:^\$\$[^\S\n]*$).*?(?m:^\$\$[^\S\n]*$)
    """,
    re.DOTALL | re.VERBOSE,
)


def plain(text: str) -> Iterator[Annotated]:
    """A plain text. Its paragraphs are texts of their own, so that a long file is many small ones.

    Example:
        >>> [each.text for each in plain("하나.\\n\\n둘.")]
        ['하나.', '둘.']
    """
    for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text):
        yield Annotated.of(text, [Piece(*match.span(), match[0])])


def markdown(text: str) -> Iterator[Annotated]:
    """The paragraphs, headings and cells of a Markdown document.

    A line end inside a paragraph is read as a space. Between ``<!-- see-attention: off -->`` and ``on``
    nothing is read.

    Example:
        >>> [each.text for each in markdown("# 제목\\n\\n밥을 **머거**요, `코드`도\\n봐요.")]
        ['제목', '밥을 머거요, X0도 봐요.']
    """
    from markdown_it import MarkdownIt

    ignored = [match.span() for match in _IGNORED.finditer(text)]
    # Parsed without front matter, and with footnotes as prose; each character keeps its place.
    parsed = _FRONT_MATTER.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]), text)
    parser, defined = MarkdownIt("commonmark").enable("table").disable("inline"), dict[str, Any]()
    parser.parse(parsed, defined)
    kept = Kept.of(text, defined.get("references", {}))
    parsed = re.sub(r"(?m)^( {0,3}\[\^[^\[\]\s]+\]):", r"\1;", parsed)
    lines, place, seen = _line_starts(text), 0, -1
    for opened, token in pairwise(parser.parse(parsed)):
        if token.type != "inline" or token.map is None:
            continue
        is_cell = opened.type in ("th_open", "td_open")
        content = token.content.replace("|", "\\|") if is_cell else token.content
        first, last = token.map
        place, seen = (place if first == seen else lines[first]), first  # cells share their line
        spans = list[tuple[int, int]]()  # of each line of the paragraph
        for number, line in enumerate(content.split("\n")):
            begun = parsed.find(line, place if number == 0 else lines[first + number], lines[last])
            if begun < 0:
                break
            place = begun + len(line)
            spans.append((begun, place))
        is_ignored = not spans or any(a < spans[-1][1] and spans[0][0] < b for a, b in ignored)
        if not is_ignored and not (opened.type == "heading_open" and kept.is_linked(content)):
            yield Annotated.of(text, _inline(text, spans, kept))


class Kept(NamedTuple):
    """The names of a Markdown document by which its links find their targets."""

    labels: frozenset[str]  # of link definitions, as CommonMark compares them
    headings: frozenset[str]  # to which links lead

    @classmethod
    def of(cls, text: str, labels: Iterable[str]) -> "Kept":
        """The names of a document with these labels."""
        linked = re.findall(r"""(?:\]\(|\[\[|href=["'])[^\s()\[\]]*#([^()\[\]|"'\n>]+)""", text)
        return cls(frozenset(labels), frozenset(_anchor(unquote(each)) for each in linked))

    def is_label(self, label: str) -> bool:
        """Whether ``[label]`` is a link by itself."""
        from markdown_it.common.utils import normalizeReference

        return normalizeReference(label) in self.labels

    def is_linked(self, heading: str) -> bool:
        """Whether a link of the document leads to a heading, whose words make its address."""
        return _anchor(re.sub(r"\]\([^)]*\)", "", heading)) in self.headings


def _anchor(heading: str) -> str:
    return re.sub(r"[\W_]", "", normalise(heading)).casefold()


def mdx(text: str) -> Iterator[Annotated]:
    """As ``markdown``, without the JavaScript of MDX.

    Example:
        >>> [each.text for each in mdx("export const 글 = '머거요'\\n\\n밥을 {1 + 1}번 머거요.")]
        ['밥을 X0번 머거요.']
    """
    for each in markdown(text):
        if each.pieces and not re.match(r"(?:import|export)\s", text[each.pieces[0].start :]):
            yield each


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\r\n?|\n", text)), len(text)]


def _inline(text: str, lines: list[tuple[int, int]], kept: Kept) -> Iterator[Piece]:
    """The pieces of the lines of a paragraph. Code may go on in the next line."""
    content = "\n".join(text[start:end] for start, end in lines)
    starts = [0, *accumulate(end - start + 1 for start, end in lines)]

    def place(offset: int) -> int:
        number = min(bisect_right(starts, offset), len(lines)) - 1
        return lines[number][0] + offset - starts[number]

    def prose(first: int, last: int) -> Iterator[Piece]:
        for match in re.finditer("\n|[^\n]+", content[first:last]):
            begun, end = first + match.start(), first + match.end()
            if match[0] == "\n":  # the marks of a quotation or list are between two lines, too
                yield Piece(place(begun), place(end), " ")
            else:
                yield Piece(place(begun), place(begun) + end - begun, match[0])

    done = 0
    while match := _INLINE.search(content, done):
        yield from prose(done, match.start())
        start, done = match.span()
        read = ""
        if match["word"]:
            read = WORD
        elif match["name"] or (match["label"] and kept.is_label(match["label"])):
            read = re.sub(r"[][*_`~\\]", "", match[0].removesuffix("[]")).replace("\n", " ")
        elif match["label"]:
            done = start + 1  # brackets in prose
        elif match["escape"]:
            read = match[0][1]
        elif match[0] == "&nbsp;":
            read = " "
        if not read and content[start - 1 : start] == content[done : done + 1] == " ":
            done += 1  # the spaces on both sides of a mark are one
        yield Piece(place(start), place(done - 1) + 1, read)
    yield from prose(done, len(content))


class _Escapes(NamedTuple):
    """The escapes of a format, and the text of each. Placeholders are read as a word."""

    pattern: re.Pattern[str]
    read: Callable[[str], str]


_PLACEHOLDER = r"%(?:\(\w+\)|\d+\$)?[-+#0-9.]*[a-zA-Z%@]|\{\w*\}"
_CHARACTERS = {
    "\\n": "\n",
    "\\t": " ",
    '\\"': '"',
    "\\'": "'",
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
}


def _character(escape: str) -> str:
    return WORD if escape[0] in "%{" else _CHARACTERS.get(escape, "")


_JSON = _Escapes(
    re.compile(rf"\\u[dD][89abAB]..\\u....|\\u....|\\.|{_PLACEHOLDER}"),
    lambda each: json.loads(f'"{each}"') if each[0] == "\\" else WORD,
)
_PO = _Escapes(re.compile(rf'\\.|"[ \t]*\r?\n[ \t]*"|</?\w[^>]*>|{_PLACEHOLDER}'), _character)
_XML = _Escapes(re.compile(rf"<!\[CDATA\[|\]\]>|<[^>]*>|&#?\w+;|\\.|{_PLACEHOLDER}"), _character)


def _unescaped(text: str, start: int, end: int, escapes: _Escapes) -> Iterator[Piece]:
    """The pieces of a string with escapes."""
    for match in escapes.pattern.finditer(text, start, end):
        yield Piece(start, match.start(), text[start : match.start()])
        yield Piece(*match.span(), escapes.read(match[0]))
        start = match.end()
    yield Piece(start, end, text[start:end])


def _parsed(text: str) -> object:
    """The content of a JSON file, which may begin with a mark; raises ValueError for another."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


_STRING = r'"((?:[^"\\]|\\.)*)"'
_SOURCE = re.compile(rf'"source"\s*:\s*(\[[^"\]]*(?:{_STRING}[^"\]]*)*\]|{_STRING})')


def string_table(text: str) -> Iterator[Annotated]:
    """The values of a JSON file that are strings; keys are left alone.

    Example:
        >>> [each.text for each in string_table('{"가": "밥을\\\\n머거요"}')]
        ['밥을\\n머거요']

    Raises:
        ValueError: for a file that is no JSON.
    """
    _parsed(text)
    for match in re.finditer(rf"{_STRING}(\s*:)?", text):
        if match[2] is None:
            yield Annotated.of(text, _unescaped(text, *match.span(1), _JSON))


def notebook(text: str) -> Iterator[Annotated]:
    """The Markdown cells of a Jupyter notebook.

    Raises:
        ValueError: for a file that is no notebook.
    """
    cells = re.search(r'"cells"\s*:\s*\[', text)
    if not isinstance(_parsed(text), dict) or cells is None:
        raise ValueError("it is no notebook of version 4")
    place, decoder = cells.end(), json.JSONDecoder()
    while following := re.compile(r"[\s,]*(?=\{)").match(text, place):
        cell, place = decoder.raw_decode(text, following.end())
        if cell.get("cell_type") != "markdown":
            continue
        for match in _SOURCE.finditer(text, following.end(), place):
            if json.loads(match[1]) == cell.get("source"):
                found = _joined(text, *match.span(1))
                typed = "".join(piece.text for piece in found.pieces)
                yield from (_inside(found, each) for each in markdown(typed))


def _joined(text: str, start: int, end: int) -> Annotated:
    """The text of one JSON string, or of a list of them."""
    inside = re.compile(_STRING).finditer(text, start, end)
    pieces = (piece for each in inside for piece in _unescaped(text, *each.span(1), _JSON))
    return Annotated(text, tuple(piece for piece in pieces if piece.text))  # its spaces mean something


def _inside(outer: Annotated, inner: Annotated) -> Annotated:
    """A document inside the text of another one, as a document of the outer file."""
    pieces = list[Piece]()
    for each in inner.pieces:
        if inner.document[each.start : each.end] != each.text:
            pieces.append(Piece(0, 0, each.text))
            continue
        begun = 0
        for piece in outer.pieces:
            a, b = max(each.start - begun, 0), min(each.end - begun, len(piece.text))
            is_prose = outer.document[piece.start : piece.end] == piece.text
            if a < b:
                span = (piece.start + a, piece.start + b) if is_prose else (piece.start, piece.end)
                pieces.append(Piece(*span, piece.text[a:b]))
            begun += len(piece.text)
    return Annotated.of(outer.document, pieces)


def catalogue(text: str) -> Iterator[Annotated]:
    """The translations (``msgstr``) of a gettext catalogue, without its header.

    Example:
        >>> [each.text for each in catalogue('msgid "eat"\\nmsgstr "밥을 머거요"')]
        ['밥을 머거요']
    """
    pattern = r'^msgstr(?:\[\d+\])?[ \t]+"((?:[^"\\]|\\.|"[ \t]*\r?\n[ \t]*")*)"'
    for match in re.finditer(pattern, text, re.MULTILINE):
        before = text.rfind("msgid", 0, match.start())
        is_header = re.match(r'msgid[ \t]+""\s*msgstr', text[before : match.end()]) is not None
        if not is_header:
            yield Annotated.of(text, _unescaped(text, *match.span(1), _PO))


_ELEMENT = re.compile(
    r"<!--.*?-->|<(string|item|value|source|target)\b([^>]*)(?<!/)>(.*?)</\1\s*>", re.DOTALL
)


def strings(text: str) -> Iterator[Annotated]:
    """The texts of an XML string table: Android's ``string`` and ``item``, ``value`` of .resx, and ``target``
    of XLIFF; none that are not to be translated.

    Example:
        >>> [each.text for each in strings("<string name='a'>밥을 <b>머거</b>요</string>")]
        ['밥을 머거요']
    """
    for match in _ELEMENT.finditer(text):
        if match[1] not in (None, "source") and not re.search(r"translatable=.false", match[2]):
            yield Annotated.of(text, _unescaped(text, *match.span(3), _XML))


def subtitles(text: str) -> Iterator[Annotated]:
    """The texts of a SubRip file, without numbers and times. The lines of a picture are one text.

    Example:
        >>> [each.text for each in subtitles("1\\n00:01 --> 00:02\\n밥을\\n머거요")]
        ['밥을 머거요']
    """
    for block in re.finditer(r"-->[^\n]*\n((?:(?!\s*\n)[^\n]*(?:\n|\Z))+)", text):
        pieces = list[Piece]()
        start, end = block.span(1)
        for match in re.finditer(r"<[^>\n]*>|\{\\[^}\n]*\}|\s*\n\s*", text[start:end]):
            a, b = start + match.start(), start + match.end()
            last = pieces[-1].end if pieces else start
            pieces += [Piece(last, a, text[last:a]), Piece(a, b, " " if "\n" in match[0] else "")]
        last = pieces[-1].end if pieces else start
        yield Annotated.of(text, [*pieces, Piece(last, end, text[last:end])])


_NO_PROSE = ("node_modules", "__pycache__", "package-lock.json")  # in folders
Reader = Callable[[str], Iterable[Annotated]]
READERS: dict[str, Reader] = {
    ".txt": plain,
    ".md": markdown,
    ".markdown": markdown,
    ".mdx": mdx,
    ".po": catalogue,
    ".pot": catalogue,
    ".json": string_table,
    ".xml": strings,
    ".resx": strings,
    ".xlf": strings,
    ".xliff": strings,
    ".srt": subtitles,
    ".ipynb": notebook,
}


def reader_of(path: Path) -> Reader:
    """The reader of a file by its ending; a plain text for others."""
    return READERS.get(path.suffix.lower(), plain)


def files_in(paths: Iterable[Path], ignored: Iterable[str] = ()) -> Iterator[Path]:
    """The files to check, each once: those that are named, and in folders all with an ending of ``READERS``.

    Links of a folder that lead out of it are left out, as hidden files are: a foreign repository decides
    about its own files alone.

    Args:
        ignored: folders, and patterns such as "docs/*.json", in which * stands for slashes, too.
    """
    patterns = [part for each in ignored for part in (each, f"{each.rstrip('/')}/*")]
    seen = set[tuple[int, int]]()
    for path in paths:
        inside = (
            sorted(each for each in path.rglob("*") if each.suffix.lower() in READERS)
            if path.is_dir()
            else [path]
        )
        for each in inside:
            hidden = any(part.startswith(".") or part in _NO_PROSE for part in each.relative_to(path).parts)
            named = each.as_posix()
            is_outside = each != path and not each.resolve().is_relative_to(path.resolve())
            if is_outside or hidden:
                continue
            if each.is_file() and not any(fnmatch(named, pattern) for pattern in patterns):
                file = each.stat().st_dev, each.stat().st_ino  # links lead to one file
                if file not in seen:
                    seen.add(file)
                    yield each
