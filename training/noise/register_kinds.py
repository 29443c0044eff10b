"""Generators of notes by kind: lists, chat, marked-up words, and code, which stays as it is.

* ``LISTS``: bullets, check lists, table rows, headings, keys with values, menus and dates.
* ``CHAT``: no full stops, laughing and weeping, names, times, mentions, hashtags.
* ``MARKS``: tags, asterisks, braces, brackets, backticks, quotations, e-mail headers.
* ``CODE``: code, addresses, paths, file names, passwords.
"""

import re
from collections.abc import Callable

from training.noise.pieces import LISTS_OF_NOTES, Pieces, Prose, Verbatim

Register = Callable[[Pieces], list[str]]


# The opening and the closing of each.
_PAIRS, _STATEMENTS = ([each.split("…") for each in LISTS_OF_NOTES[name]] for name in ("pairs", "statements"))


def _bullet(words: Pieces) -> list[str]:
    """``* 늦게 온 사람은 청소``"""
    text = words.sentence() if words.rng.random() < 0.4 else words.phrase()
    return [words.listed("bullets"), Prose(text)]


def _numbered(words: Pieces) -> list[str]:
    """``1) 물 끓이기``"""
    number = str(words.rng.randint(1, 12))
    is_circled = words.rng.random() < 0.25
    mark = words.listed("circled") + " " if is_circled else words.listed("numbers").format(number)
    return [mark, Prose(words.phrase())]


def _numbered_row(words: Pieces) -> list[str]:
    """``1) 물 끓이기 2) 면 넣기``"""
    form = words.one("{}) ", "{}. ", "({}) ", "{}.")
    parts: list[str] = []
    for number in range(1, words.rng.randint(2, 4)):
        parts += [(" " if parts else "") + form.format(number), Prose(words.phrase(3))]
    return parts


def _check_list(words: Pieces) -> list[str]:
    """``[x] 우유 사기``"""
    return [words.listed("boxes"), Prose(words.phrase(4))]


def _table_row(words: Pieces) -> list[str]:
    """``| 민수 | 지각 1회 | 비고 |``"""
    bar = words.one(" | ", " | ", "|", " / ", ", ", " · ", ";")
    framed = "|" in bar and words.rng.random() < 0.7
    parts = [bar.lstrip()] if framed else []
    for index in range(words.rng.randint(2, 4)):
        parts += [bar, _cell(words)] if index else [_cell(words)]
    return [*parts, bar.rstrip()] if framed else parts


def _cell(words: Pieces) -> str:
    drawn = words.rng.random()
    if drawn < 0.2:
        return words.name()
    return _figure(words) if drawn < 0.35 else Prose(words.entry())


def _heading(words: Pieces) -> list[str]:
    """``[공지] 내일은 쉽니다``, ``## 준비물``, ``<오늘의 할 일>``"""
    mark = words.one("# ", "## ", "### ", "[]", "[]", "<>", "【】", "《》", "== ==", "(())")
    if mark.startswith("#"):
        return [mark, Prose(words.phrase())]
    opening, closing = mark[: len(mark) // 2], mark[len(mark) // 2 :]
    if words.rng.random() < 0.4:
        return [opening, Prose(words.phrase(4)), closing]
    head = words.listed("heads") if words.rng.random() < 0.7 else Prose(words.entry())
    return [opening, head, closing + words.one(" ", " ", ""), Prose(words.phrase())]


def _key_value(words: Pieces) -> list[str]:
    """``준비물: 물, 모자 꼭 가져오기``"""
    key = words.listed("keys") if words.rng.random() < 0.6 else Prose(words.entry())
    parts = [key, words.one(": ", ": ", " : ", ":", " - ", " = ", "=", " → ", " -> ", " => ")]
    if words.rng.random() < 0.15:
        parts.append(words.name() + " / ")
    return [*parts, Prose(words.phrase())]


def _keys_and_values(words: Pieces) -> list[str]:
    """``장소: 학교 앞 / 시간: 10:00``"""
    joint = words.one(" / ", ", ", " | ", "; ")
    parts: list[str] = []
    for _ in range(words.rng.randint(2, 3)):
        value = _when(words) if words.rng.random() < 0.25 else Prose(words.entry())
        parts += [(joint if parts else "") + words.listed("keys") + words.one(": ", ":", "="), value]
    return parts


def _menu(words: Pieces) -> list[str]:
    """``김밥 3,500원 / 라면 4,000원``"""
    parts: list[str] = []
    gap, joint = words.one(" ", " ", ": ", "........", " - "), words.one(" / ", ", ", " ")
    for _ in range(words.rng.randint(1, 3)):
        dish = words.listed("dishes") if words.rng.random() < 0.5 else Prose(words.entry())
        parts += [*([joint] if parts else []), dish, gap + _price(words)]
    return parts


def _appointment(words: Pieces) -> list[str]:
    """``3/14(목) 10:00 치과 가기``"""
    when, what = _when(words), Prose(words.phrase(4))
    if words.rng.random() < 0.7:
        return [when + words.one(" ", " ", " - ", ": "), what]
    return [what, words.one(f" {when}", f" ({when})")]


def _word_row(words: Pieces) -> list[str]:
    """``물 / 컵 / 휴지``, ``우유+빵+달걀``"""
    joint = words.one(", ", "/", " / ", "+", " + ", " & ", "·", " > ", "→", " -> ", "=", " vs ")
    parts: list[str] = []
    for _ in range(words.rng.randint(2, 5)):
        parts += [*([joint] if parts else []), Prose(words.entry())]
    return parts


def _figure(words: Pieces) -> str:
    return str(words.rng.randint(0, 120)) + words.one("", "", "회", "개", "명", "점", "%", "번", "분")


def _price(words: Pieces) -> str:
    amount = words.rng.randint(5, 300) * 100
    return words.one(
        f"{amount:,}원", f"{amount:,}원", f"{amount}원", f"{amount:,}", f"₩{amount:,}", f"{amount / 1000:.1f}"
    )


def _when(words: Pieces) -> str:
    rng = words.rng
    month, day = rng.randint(1, 12), rng.randint(1, 28)
    hour, minute = rng.randint(0, 23), rng.choice((0, 10, 15, 30, 45))
    date = words.one(f"{month}/{day}", f"{month}.{day}.", f"{month}월 {day}일", f"2026-{month:02}-{day:02}")
    date += f"({words.listed('weekdays')})" if rng.random() < 0.5 else ""
    time = words.one(
        f"{hour:02}:{minute:02}",
        f"오후 {hour % 12 + 1}시",
        f"{hour:02}:{minute:02}~{(hour + 1) % 24:02}:{minute:02}",
    )
    return words.one(f"{date} {time}", f"{date} {time}", date, time)


LISTS: tuple[Register, ...] = (
    _bullet, _numbered, _numbered_row, _check_list, _table_row, _heading, _key_value,
    _keys_and_values, _menu, _appointment, _word_row,
)  # fmt: skip


_END_MARK = re.compile(r"[.!?…]+$")


def _ended(words: Pieces) -> list[str]:
    """``희한하네^^``, ``내일 봐 ㅋㅋ``"""
    return [Prose(_unmarked(words)), words.one("", " ") + words.listed("ends")]


def _begun(words: Pieces) -> list[str]:
    """``ㅇㅇ 지금 가는 중``"""
    return [words.listed("answers") + words.one(" ", " ", ", ", "... "), Prose(_unmarked(words))]


def _interrupted(words: Pieces) -> list[str]:
    """``나 지금 왔어 ㅋㅋ 어디야``"""
    return [Prose(words.phrase(4)), f" {words.listed('ends')} ", Prose(words.phrase(4))]


def _said(words: Pieces) -> list[str]:
    """``민수: 오늘 몇 시에 봐``"""
    name = words.name()
    form = words.one("{}: ", "{} : ", "{}: ", "<{}> ", "{} > ", "{} - ", "({}) ", "{}> ")
    return [form.format(name), Prose(_unmarked(words))]


def _time_stamped(words: Pieces) -> list[str]:
    """``[지영] [오후 3:12] 나 먼저 갈게``"""
    name, half = words.name(), words.one("오전", "오후")
    time = f"{words.rng.randint(1, 12)}:{words.rng.randint(0, 59):02}"
    stamp = words.listed("stamps").format(name=name, half=half, time=time)
    return [stamp, Prose(_unmarked(words))]


def _mention(words: Pieces) -> list[str]:
    """``@민수 회의 자료 보내 주세요``, ``결석 2회 @민수``"""
    at, text = "@" + words.name(), Prose(_unmarked(words))
    if words.rng.random() < 0.3:
        at = at + " @" + words.name()
    return [at, " ", text] if words.rng.random() < 0.6 else [text, " ", at]


def _hashtags(words: Pieces) -> list[str]:
    """``드디어 끝났다 #오늘의운동``: the text after # is one word, however many it joins."""
    tags = [Verbatim(_squashed(words.phrase(3))) for _ in range(words.rng.randint(1, 3))]
    parts = [part for tag in tags for part in (" #", tag)]
    if words.rng.random() < 0.3:
        return ["#", *parts[1:]]
    return [Prose(_unmarked(words)), *parts]


def _bare(words: Pieces) -> list[str]:
    """A sentence without its full stop, or two in a row: ``나 왔어 어디야``."""
    first = Prose(_unmarked(words))
    if words.rng.random() >= 0.4:
        return [first]
    return [first, words.one(" ", " / ", "~ ", ", "), Prose(words.phrase(3))]


def _aside(words: Pieces) -> list[str]:
    """``내일 가요 (비가 오면 못 가요)``"""
    opening, closing = tuple(words.one("()", "()", "[]", "{}"))
    return [Prose(words.phrase(4)), words.one(" ", "") + opening, Prose(words.phrase(3)), closing]


def _squashed(text: str) -> str:
    return text.replace(" ", "")


def _unmarked(words: Pieces) -> str:
    return _END_MARK.sub("", words.sentence()) if words.rng.random() < 0.5 else words.phrase()


CHAT: tuple[Register, ...] = (
    _ended, _begun, _interrupted, _said, _time_stamped, _mention, _hashtags, _bare, _aside
)  # fmt: skip


def _embraced(words: Pieces) -> list[str]:
    """``{엄마께 전화}``, ``**꼭** 오세요``"""
    opening, closing = words.rng.choice(_PAIRS)
    return _around(words, opening, Prose(words.phrase(4)), closing)


def _tagged(words: Pieces) -> list[str]:
    """``<b>안 돼요</b>``"""
    tag = words.listed("tags")
    opening = words.one(f"<{tag}>", f"<{tag}>", f'<{tag} class="box">', f"[{tag}]")
    closing = f"[/{tag}]" if opening.startswith("[") else f"</{tag}>"
    text = words.sentence() if words.rng.random() < 0.3 else words.phrase()
    return _around(words, opening, Prose(text), closing)


def _nested_tags(words: Pieces) -> list[str]:
    """``<li><b>시간</b> 오후에 알려 드려요</li>``"""
    outer, inner = words.rng.sample(LISTS_OF_NOTES["tags"], 2)
    parts = [f"<{outer}><{inner}>", Prose(words.entry()), f"</{inner}>" + words.one("", " ", ": ")]
    return [*parts, Prose(words.phrase(4)), f"</{outer}>" + words.one("", "<br>", "<br/>")]


def _in_backticks(words: Pieces) -> list[str]:
    """A text that is quoted as it is: `지각 1회`."""
    mark = words.one("`", "`", "``", "```")
    return _around(words, mark, words.entry(), mark)


def _quotation(words: Pieces) -> list[str]:
    """``> 내일 몇 시에 만나요``"""
    return [words.one("> ", ">> ", ">", "| ", "» "), Prose(words.sentence())]


def _linked(words: Pieces) -> list[str]:
    """``[자세히 보기](https://example.com)``"""
    place = words.one("https://example.com", "/notice/12", "a.html", "#top", "www.example.co.kr")
    return _around(words, words.one("[", "!["), Prose(words.phrase(3)), f"]({place})")


def _e_mail_header(words: Pieces) -> list[str]:
    """``제목: Re: 모임 장소를 바꿉니다``"""
    return [words.listed("headers") + words.one("", "", "Re: ", "[긴급] "), Prose(words.phrase())]


def _around(words: Pieces, opening: str, inside: str, closing: str) -> list[str]:
    """The inside between its marks; often with prose before or behind."""
    place = words.rng.random()
    before = [Prose(words.phrase(3)), " "] if place < 0.3 or 0.55 <= place < 0.7 else []
    behind = [" ", Prose(words.phrase(3))] if 0.3 <= place < 0.7 else []
    return [*before, opening, inside, closing, *behind]


MARKS: tuple[Register, ...] = (
    _embraced, _embraced, _tagged, _nested_tags, _in_backticks, _quotation, _linked, _e_mail_header
)  # fmt: skip


def _statement(words: Pieces) -> list[str]:
    """``print("할수있다")``, ``{"할일": 1}``"""
    opening, closing = words.rng.choice(_STATEMENTS)
    spelt = words.phrase(3)
    apart = opening[-1] in "\"'"
    text = Verbatim(spelt if apart and words.rng.random() < 0.6 else _squashed(spelt))
    return _in_prose(words, [opening, text, closing])


def _assignment(words: Pieces) -> list[str]:
    """``이름 = "민수"``, ``이름목록.append('민수')``"""
    name, value = _squashed(words.noun()), words.one(words.name(), _squashed(words.phrase(2)))
    before, middle, after = words.listed("assignments").split("…")
    return _in_prose(words, [before, Verbatim(name), middle, Verbatim(value), after])


def _address(words: Pieces) -> list[str]:
    """``www.쇼핑몰.한국/공지``"""
    before, after = words.listed("sites").split("{}")
    parts = [before, Verbatim(_squashed(words.noun())), after]
    if words.rng.random() < 0.5:
        parts += ["/", Verbatim(words.one("", "게시판/") + _squashed(words.phrase(2)))]
    if words.rng.random() < 0.2:
        parts += ["?q=", Verbatim(_squashed(words.phrase(2)))]
    return _in_prose(words, parts)


def _path(words: Pieces) -> list[str]:
    r"""``C:\사용자\홍길동\바탕화면``"""
    root, slash = words.rng.choice(
        (("C:\\", "\\"), ("D:\\", "\\"), ("/home/", "/"), ("~/", "/"), ("./", "/"), ("", "\\"), ("", "/"))
    )
    folders = [
        words.one("사용자", "바탕화면", "문서", "다운로드", "사진", _squashed(words.noun()), words.name())
        for _ in range(words.rng.randint(1, 2))
    ]
    return _in_prose(words, [root + slash.join(folders) + slash, *_file_name(words, squash=True)])


def file_name(words: Pieces) -> list[str]:
    """``과제_최종(2).hwp``"""
    return _in_prose(words, _file_name(words, squash=words.rng.random() < 0.7))


def _password(words: Pieces) -> list[str]:
    """``비밀번호는 안녕하세요123!``"""
    label = words.listed("labels")
    word, figures = _squashed(words.phrase(2)), str(words.rng.randint(1, 9999))
    forms = ("{w}{f}!", "{w}_{f}", "{w}@{f}", "{w}!@#{f}", "{w}{f}#")
    form = words.one(*forms, *(("{w}{f}", "{f}{w}", "{w}.{f}") if label else ()))
    before, after = form.replace("{f}", figures).split("{w}")
    parts = [label + before, Verbatim(word), after]
    return parts if label else _in_prose(words, parts)


def _file_name(words: Pieces, squash: bool) -> list[str]:
    name = words.phrase(3).replace(" ", words.one("", "_", "-")) if squash else words.phrase(3)
    return [Verbatim(name), words.listed("versions") + "." + words.listed("endings")]


def _in_prose(words: Pieces, parts: list[str]) -> list[str]:
    """Such parts alone, or beside a phrase of prose."""
    place = words.rng.random()
    before = [Prose(words.phrase(4)), words.one(" ", ": ", " ")] if place < 0.3 else []
    behind = [words.one(" ", " - ", " "), Prose(words.phrase(4))] if 0.3 <= place < 0.6 else []
    return [*before, *parts, *behind]


CODE: tuple[Register, ...] = (
    _statement, _assignment, _address, _path, file_name, _password
)  # fmt: skip
