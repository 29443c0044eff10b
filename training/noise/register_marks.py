"""Notes with marks around words: tags, asterisks, braces, brackets, backticks, quotations, e-mail headers."""

from collections.abc import Callable

from training.noise.pieces import Pieces, RegisterPart, left_alone, prose

_PAIRS = (
    ("**", "**"),
    ("*", "*"),
    ("__", "__"),
    ("_", "_"),
    ("~~", "~~"),
    ("==", "=="),
    ("{", "}"),
    ("{{", "}}"),
    ("[", "]"),
    ("(", ")"),
    ("<", ">"),
    ("'", "'"),
    ('"', '"'),
    ("“", "”"),
    ("‘", "’"),
    ("「", "」"),
    ("『", "』"),
    ("/* ", " */"),
    ("<!-- ", " -->"),
    ("$", "$"),
)
_TAGS = "b i u p em strong h1 h2 li td th span div del mark".split()
_HEADERS = ("제목: ", "Subject: ", "Re: ", "Fwd: ", "RE: ", "답장: ", "제목 : ", "[RE] ")


def embraced(words: Pieces) -> list[RegisterPart]:
    """``{엄마께 전화}``, ``**꼭** 오세요``"""
    opening, closing = words.rng.choice(_PAIRS)
    return _around(words, opening, prose(words.phrase(4)), closing)


def tagged(words: Pieces) -> list[RegisterPart]:
    """``<b>안 돼요</b>``"""
    tag = words.one(*_TAGS)
    opening = words.one(f"<{tag}>", f"<{tag}>", f'<{tag} class="box">', f"[{tag}]")
    closing = f"[/{tag}]" if opening.startswith("[") else f"</{tag}>"
    text = words.sentence() if words.rng.random() < 0.3 else words.phrase()
    return _around(words, opening, prose(text), closing)


def nested_tags(words: Pieces) -> list[RegisterPart]:
    """``<li><b>시간</b> 오후에 알려 드려요</li>``"""
    outer, inner = words.rng.sample(_TAGS, 2)
    parts = [
        left_alone(f"<{outer}><{inner}>"),
        prose(words.entry()),
        left_alone(f"</{inner}>" + words.one("", " ", ": ")),
    ]
    return [*parts, prose(words.phrase(4)), left_alone(f"</{outer}>" + words.one("", "<br>", "<br/>"))]


def in_backticks(words: Pieces) -> list[RegisterPart]:
    """A text that is quoted as it is: `지각 1회`."""
    mark = words.one("`", "`", "``", "```")
    return _around(words, mark, left_alone(words.entry()), mark)


def quotation(words: Pieces) -> list[RegisterPart]:
    """``> 내일 몇 시에 만나요``"""
    return [left_alone(words.one("> ", ">> ", ">", "| ", "» ")), prose(words.sentence())]


def linked(words: Pieces) -> list[RegisterPart]:
    """``[자세히 보기](https://example.com)``"""
    place = words.one("https://example.com", "/notice/12", "a.html", "#top", "www.example.co.kr")
    return _around(words, words.one("[", "!["), prose(words.phrase(3)), f"]({place})")


def e_mail_header(words: Pieces) -> list[RegisterPart]:
    """``제목: Re: 모임 장소를 바꿉니다``"""
    return [left_alone(words.one(*_HEADERS) + words.one("", "", "Re: ", "[긴급] ")), prose(words.phrase())]


def _around(words: Pieces, opening: str, inside: RegisterPart, closing: str) -> list[RegisterPart]:
    """The inside between its marks; often with prose before or behind."""
    parts = [left_alone(opening), inside, left_alone(closing)]
    place = words.rng.random()
    if place < 0.3:
        return [prose(words.phrase(3)), left_alone(" "), *parts]
    if place < 0.55:
        return [*parts, left_alone(" "), prose(words.phrase(3))]
    if place < 0.7:
        return [prose(words.phrase(3)), left_alone(" "), *parts, left_alone(" "), prose(words.phrase(3))]
    return parts


MARKS: tuple[Callable[[Pieces], list[RegisterPart]], ...] = (
    embraced,
    embraced,
    tagged,
    nested_tags,
    in_backticks,
    quotation,
    linked,
    e_mail_header,
)
