"""Generators of notes by kind: lists, chat, marked-up words, and code, which stays as it is.

* ``LISTS``: bullets, check lists, table rows, headings, keys with values, menus and dates.
* ``CHAT``: no full stops, laughing and weeping, names, times, mentions, hashtags.
* ``MARKS``: tags, asterisks, braces, brackets, backticks, quotations, e-mail headers.
* ``CODE``: code, addresses, paths, file names, passwords.
"""

import re
from collections.abc import Callable

from training.noise.pieces import LISTS_OF_NOTES, Pieces, RegisterPart, left_alone, prose, verbatim

Register = Callable[[Pieces], list[RegisterPart]]


# The opening and the closing of each.
_PAIRS, _STATEMENTS = ([each.split("…") for each in LISTS_OF_NOTES[name]] for name in ("pairs", "statements"))


def _bullet(words: Pieces) -> list[RegisterPart]:
    """``* 늦게 온 사람은 청소``"""
    text = words.sentence() if words.rng.random() < 0.4 else words.phrase()
    return [left_alone(words.listed("bullets")), prose(text)]


def _numbered(words: Pieces) -> list[RegisterPart]:
    """``1) 물 끓이기``"""
    number = str(words.rng.randint(1, 12))
    mark = (
        words.listed("circled") + " " if words.rng.random() < 0.25 else words.listed("numbers").format(number)
    )
    return [left_alone(mark), prose(words.phrase())]


def _numbered_row(words: Pieces) -> list[RegisterPart]:
    """``1) 물 끓이기 2) 면 넣기``"""
    form = words.one("{}) ", "{}. ", "({}) ", "{}.")
    parts: list[RegisterPart] = []
    for number in range(1, words.rng.randint(2, 4)):
        parts += [left_alone((" " if parts else "") + form.format(number)), prose(words.phrase(3))]
    return parts


def _check_list(words: Pieces) -> list[RegisterPart]:
    """``[x] 우유 사기``"""
    return [left_alone(words.listed("boxes")), prose(words.phrase(4))]


def _table_row(words: Pieces) -> list[RegisterPart]:
    """``| 민수 | 지각 1회 | 비고 |``"""
    bar = words.one(" | ", " | ", "|", " / ", ", ", " · ", ";")
    framed = "|" in bar and words.rng.random() < 0.7
    parts = [left_alone(bar.lstrip())] if framed else []
    for index in range(words.rng.randint(2, 4)):
        parts += [left_alone(bar), _cell(words)] if index else [_cell(words)]
    return [*parts, left_alone(bar.rstrip())] if framed else parts


def _cell(words: Pieces) -> RegisterPart:
    drawn = words.rng.random()
    if drawn < 0.2:
        return left_alone(words.name())
    return left_alone(_figure(words)) if drawn < 0.35 else prose(words.entry())


def _heading(words: Pieces) -> list[RegisterPart]:
    """``[공지] 내일은 쉽니다``, ``## 준비물``, ``<오늘의 할 일>``"""
    mark = words.one("# ", "## ", "### ", "[]", "[]", "<>", "【】", "《》", "== ==", "(())")
    if mark.startswith("#"):
        return [left_alone(mark), prose(words.phrase())]
    opening, closing = mark[: len(mark) // 2], mark[len(mark) // 2 :]
    if words.rng.random() < 0.4:
        return [left_alone(opening), prose(words.phrase(4)), left_alone(closing)]
    head = left_alone(words.listed("heads")) if words.rng.random() < 0.7 else prose(words.entry())
    return [left_alone(opening), head, left_alone(closing + words.one(" ", " ", "")), prose(words.phrase())]


def _key_value(words: Pieces) -> list[RegisterPart]:
    """``준비물: 물, 모자 꼭 가져오기``"""
    key = left_alone(words.listed("keys")) if words.rng.random() < 0.6 else prose(words.entry())
    parts = [key, left_alone(words.one(": ", ": ", " : ", ":", " - ", " = ", "=", " → ", " -> ", " => "))]
    if words.rng.random() < 0.15:
        parts.append(left_alone(words.name() + " / "))
    return [*parts, prose(words.phrase())]


def _keys_and_values(words: Pieces) -> list[RegisterPart]:
    """``장소: 학교 앞 / 시간: 10:00``"""
    joint = words.one(" / ", ", ", " | ", "; ")
    parts: list[RegisterPart] = []
    for _ in range(words.rng.randint(2, 3)):
        value = left_alone(_when(words)) if words.rng.random() < 0.25 else prose(words.entry())
        parts += [
            left_alone((joint if parts else "") + words.listed("keys") + words.one(": ", ":", "=")),
            value,
        ]
    return parts


def _menu(words: Pieces) -> list[RegisterPart]:
    """``김밥 3,500원 / 라면 4,000원``"""
    parts: list[RegisterPart] = []
    gap, joint = words.one(" ", " ", ": ", "........", " - "), words.one(" / ", ", ", " ")
    for _ in range(words.rng.randint(1, 3)):
        dish = left_alone(words.listed("dishes")) if words.rng.random() < 0.5 else prose(words.entry())
        parts += [*([left_alone(joint)] if parts else []), dish, left_alone(gap + _price(words))]
    return parts


def _appointment(words: Pieces) -> list[RegisterPart]:
    """``3/14(목) 10:00 치과 가기``"""
    when, what = _when(words), prose(words.phrase(4))
    if words.rng.random() < 0.7:
        return [left_alone(when + words.one(" ", " ", " - ", ": ")), what]
    return [what, left_alone(words.one(f" {when}", f" ({when})"))]


def _word_row(words: Pieces) -> list[RegisterPart]:
    """``물 / 컵 / 휴지``, ``우유+빵+달걀``"""
    joint = words.one(", ", "/", " / ", "+", " + ", " & ", "·", " > ", "→", " -> ", "=", " vs ")
    parts: list[RegisterPart] = []
    for _ in range(words.rng.randint(2, 5)):
        parts += [*([left_alone(joint)] if parts else []), prose(words.entry())]
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
    month, day, hour, minute = (
        rng.randint(1, 12),
        rng.randint(1, 28),
        rng.randint(0, 23),
        rng.choice((0, 10, 15, 30, 45)),
    )
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


def _ended(words: Pieces) -> list[RegisterPart]:
    """``희한하네^^``, ``내일 봐 ㅋㅋ``"""
    return [prose(_unmarked(words)), left_alone(words.one("", " ") + words.listed("ends"))]


def _begun(words: Pieces) -> list[RegisterPart]:
    """``ㅇㅇ 지금 가는 중``"""
    return [left_alone(words.listed("answers") + words.one(" ", " ", ", ", "... ")), prose(_unmarked(words))]


def _interrupted(words: Pieces) -> list[RegisterPart]:
    """``나 지금 왔어 ㅋㅋ 어디야``"""
    return [prose(words.phrase(4)), left_alone(f" {words.listed('ends')} "), prose(words.phrase(4))]


def _said(words: Pieces) -> list[RegisterPart]:
    """``민수: 오늘 몇 시에 봐``"""
    name = words.name()
    form = words.one("{}: ", "{} : ", "{}: ", "<{}> ", "{} > ", "{} - ", "({}) ", "{}> ")
    return [left_alone(form.format(name)), prose(_unmarked(words))]


def _time_stamped(words: Pieces) -> list[RegisterPart]:
    """``[지영] [오후 3:12] 나 먼저 갈게``"""
    name, half = words.name(), words.one("오전", "오후")
    time = f"{words.rng.randint(1, 12)}:{words.rng.randint(0, 59):02}"
    stamp = words.one(
        f"[{name}] [{half} {time}] ",
        f"{half} {time} {name}: ",
        f"[{time}] {name}: ",
        f"{time} ",
        f"{name} ({half} {time}) ",
    )
    return [left_alone(stamp), prose(_unmarked(words))]


def _mention(words: Pieces) -> list[RegisterPart]:
    """``@민수 회의 자료 보내 주세요``, ``결석 2회 @민수``"""
    at, text = left_alone("@" + words.name()), prose(_unmarked(words))
    if words.rng.random() < 0.3:
        at = left_alone(at.text + " @" + words.name())
    return [at, left_alone(" "), text] if words.rng.random() < 0.6 else [text, left_alone(" "), at]


def _hashtags(words: Pieces) -> list[RegisterPart]:
    """``드디어 끝났다 #오늘의운동``: the text after # is one word, however many it joins."""
    tags = [verbatim(_squashed(words.phrase(3))) for _ in range(words.rng.randint(1, 3))]
    parts = [part for tag in tags for part in (left_alone(" #"), tag)]
    if words.rng.random() < 0.3:
        return [left_alone("#"), *parts[1:]]
    return [prose(_unmarked(words)), *parts]


def _bare(words: Pieces) -> list[RegisterPart]:
    """A sentence without its full stop, or two in a row: ``나 왔어 어디야``."""
    first = prose(_unmarked(words))
    return (
        [first, left_alone(words.one(" ", " / ", "~ ", ", ")), prose(words.phrase(3))]
        if words.rng.random() < 0.4
        else [first]
    )


def _aside(words: Pieces) -> list[RegisterPart]:
    """``내일 가요 (비가 오면 못 가요)``"""
    opening, closing = tuple(words.one("()", "()", "[]", "{}"))
    return [
        prose(words.phrase(4)),
        left_alone(words.one(" ", "") + opening),
        prose(words.phrase(3)),
        left_alone(closing),
    ]


def _squashed(text: str) -> str:
    return text.replace(" ", "")


def _unmarked(words: Pieces) -> str:
    return _END_MARK.sub("", words.sentence()) if words.rng.random() < 0.5 else words.phrase()


CHAT: tuple[Register, ...] = (
    _ended, _begun, _interrupted, _said, _time_stamped, _mention, _hashtags, _bare, _aside
)  # fmt: skip


def _embraced(words: Pieces) -> list[RegisterPart]:
    """``{엄마께 전화}``, ``**꼭** 오세요``"""
    opening, closing = words.rng.choice(_PAIRS)
    return _around(words, opening, prose(words.phrase(4)), closing)


def _tagged(words: Pieces) -> list[RegisterPart]:
    """``<b>안 돼요</b>``"""
    tag = words.listed("tags")
    opening = words.one(f"<{tag}>", f"<{tag}>", f'<{tag} class="box">', f"[{tag}]")
    closing = f"[/{tag}]" if opening.startswith("[") else f"</{tag}>"
    text = words.sentence() if words.rng.random() < 0.3 else words.phrase()
    return _around(words, opening, prose(text), closing)


def _nested_tags(words: Pieces) -> list[RegisterPart]:
    """``<li><b>시간</b> 오후에 알려 드려요</li>``"""
    outer, inner = words.rng.sample(LISTS_OF_NOTES["tags"], 2)
    parts = [
        left_alone(f"<{outer}><{inner}>"),
        prose(words.entry()),
        left_alone(f"</{inner}>" + words.one("", " ", ": ")),
    ]
    return [*parts, prose(words.phrase(4)), left_alone(f"</{outer}>" + words.one("", "<br>", "<br/>"))]


def _in_backticks(words: Pieces) -> list[RegisterPart]:
    """A text that is quoted as it is: `지각 1회`."""
    mark = words.one("`", "`", "``", "```")
    return _around(words, mark, left_alone(words.entry()), mark)


def _quotation(words: Pieces) -> list[RegisterPart]:
    """``> 내일 몇 시에 만나요``"""
    return [left_alone(words.one("> ", ">> ", ">", "| ", "» ")), prose(words.sentence())]


def _linked(words: Pieces) -> list[RegisterPart]:
    """``[자세히 보기](https://example.com)``"""
    place = words.one("https://example.com", "/notice/12", "a.html", "#top", "www.example.co.kr")
    return _around(words, words.one("[", "!["), prose(words.phrase(3)), f"]({place})")


def _e_mail_header(words: Pieces) -> list[RegisterPart]:
    """``제목: Re: 모임 장소를 바꿉니다``"""
    return [left_alone(words.listed("headers") + words.one("", "", "Re: ", "[긴급] ")), prose(words.phrase())]


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


MARKS: tuple[Register, ...] = (
    _embraced, _embraced, _tagged, _nested_tags, _in_backticks, _quotation, _linked, _e_mail_header
)  # fmt: skip


def _statement(words: Pieces) -> list[RegisterPart]:
    """``print("할수있다")``, ``{"할일": 1}``"""
    opening, closing = words.rng.choice(_STATEMENTS)
    spelt = words.phrase(3)
    apart = opening[-1] in "\"'"
    text = verbatim(spelt if apart and words.rng.random() < 0.6 else _squashed(spelt))
    return _in_prose(words, [left_alone(opening), text, left_alone(closing)])


def _assignment(words: Pieces) -> list[RegisterPart]:
    """``이름 = "민수"``, ``이름목록.append('민수')``"""
    name, value = _squashed(words.noun()), words.one(words.name(), _squashed(words.phrase(2)))
    form = words.one(
        '%s = "%s"', "%s = '%s'", "%s.append('%s')", "%s['%s'] += 1", '%s("%s")', "%s.%s = 0", "${%s} %s"
    )
    before, middle, after = form.split("%s")
    return _in_prose(
        words, [left_alone(before), verbatim(name), left_alone(middle), verbatim(value), left_alone(after)]
    )


def _address(words: Pieces) -> list[RegisterPart]:
    """``www.쇼핑몰.한국/공지``"""
    before, after = words.listed("sites").split("{}")
    parts = [left_alone(before), verbatim(_squashed(words.noun())), left_alone(after)]
    if words.rng.random() < 0.5:
        parts += [left_alone("/"), verbatim(words.one("", "게시판/") + _squashed(words.phrase(2)))]
    if words.rng.random() < 0.2:
        parts += [left_alone("?q="), verbatim(_squashed(words.phrase(2)))]
    return _in_prose(words, parts)


def _path(words: Pieces) -> list[RegisterPart]:
    r"""``C:\사용자\홍길동\바탕화면``"""
    root, slash = words.rng.choice(
        (("C:\\", "\\"), ("D:\\", "\\"), ("/home/", "/"), ("~/", "/"), ("./", "/"), ("", "\\"), ("", "/"))
    )
    folders = [
        words.one("사용자", "바탕화면", "문서", "다운로드", "사진", _squashed(words.noun()), words.name())
        for _ in range(words.rng.randint(1, 2))
    ]
    return _in_prose(words, [left_alone(root + slash.join(folders) + slash), *_file_name(words, squash=True)])


def file_name(words: Pieces) -> list[RegisterPart]:
    """``과제_최종(2).hwp``"""
    return _in_prose(words, _file_name(words, squash=words.rng.random() < 0.7))


def _password(words: Pieces) -> list[RegisterPart]:
    """``비밀번호는 안녕하세요123!``"""
    label = words.one(
        "비밀번호: ", "비번: ", "아이디: ", "ID: ", "PW: ", "암호는 ", "비밀번호는 ", "와이파이 비번 ", ""
    )
    word, figures = _squashed(words.phrase(2)), str(words.rng.randint(1, 9999))
    forms = ("{w}{f}!", "{w}_{f}", "{w}@{f}", "{w}!@#{f}", "{w}{f}#")
    form = words.one(*forms, *(("{w}{f}", "{f}{w}", "{w}.{f}") if label else ()))
    before, after = form.replace("{f}", figures).split("{w}")
    parts = [left_alone(label + before), verbatim(word), left_alone(after)]
    return parts if label else _in_prose(words, parts)


def _file_name(words: Pieces, squash: bool) -> list[RegisterPart]:
    name = words.phrase(3).replace(" ", words.one("", "_", "-")) if squash else words.phrase(3)
    return [verbatim(name), left_alone(words.listed("versions") + "." + words.listed("endings"))]


def _in_prose(words: Pieces, parts: list[RegisterPart]) -> list[RegisterPart]:
    """Such parts alone, or beside a phrase of prose."""
    place = words.rng.random()
    if place < 0.3:
        return [prose(words.phrase(4)), left_alone(words.one(" ", ": ", " ")), *parts]
    if place < 0.6:
        return [*parts, left_alone(words.one(" ", " - ", " ")), prose(words.phrase(4))]
    return parts


CODE: tuple[Register, ...] = (
    _statement, _assignment, _address, _path, file_name, _password
)  # fmt: skip
