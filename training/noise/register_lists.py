"""Notes that list: bullets, check lists, table rows, headings, keys with values, menus and dates."""

from collections.abc import Callable

from training.noise.pieces import Pieces, RegisterPart, left_alone, prose

_BULLETS = (
    "* ",
    "- ",
    "• ",
    "· ",
    "+ ",
    "*",
    "-",
    "•",
    "※ ",
    "▶ ",
    "→ ",
    "√ ",
    "○ ",
    "■ ",
    "★ ",
    "☞ ",
    "> ",
    "# ",
)
_NUMBERS = ("{}. ", "{}) ", "({}) ", "{}.", "{}: ", "제{}항 ", "#{} ", "{}- ")
_CIRCLED = "①②③④⑤⑥⑦⑧⑨"
_BOXES = (
    "[ ] ",
    "[x] ",
    "[X] ",
    "- [ ] ",
    "- [x] ",
    "☐ ",
    "☑ ",
    "✔ ",
    "✓ ",
    "□ ",
    "O ",
    "X ",
    "(완료) ",
    "(v) ",
)
_KEYS = (
    "장소 시간 일시 준비물 회비 대상 문의 담당 비고 이름 제목 내용 날짜 마감 신청 주제 목표 결론 주의 참고 이유 기타 학번 학년 전화 "
    "메모 할일 오늘 내일 질문 답 예 뜻 상태 결과 원인"
).split()
_HEADS = (
    "공지",
    "안내",
    "필독",
    "모집",
    "후기",
    "질문",
    "중요",
    "속보",
    "긴급",
    "이벤트",
    "과제",
    "마감",
    "오늘의 할 일",
)
_DISHES = "김밥 라면 떡볶이 비빔밥 김치찌개 된장찌개 제육볶음 돈가스 냉면 칼국수 만두 아메리카노 카페라떼 녹차 주스 붕어빵 순대 우동".split()
_WEEKDAYS = "월화수목금토일"


def bullet(words: Pieces) -> list[RegisterPart]:
    """``* 늦게 온 사람은 청소``"""
    text = words.sentence() if words.rng.random() < 0.4 else words.phrase()
    return [left_alone(words.one(*_BULLETS)), prose(text)]


def numbered(words: Pieces) -> list[RegisterPart]:
    """``1) 물 끓이기``"""
    number = str(words.rng.randint(1, 12))
    mark = words.one(*_CIRCLED) + " " if words.rng.random() < 0.25 else words.one(*_NUMBERS).format(number)
    return [left_alone(mark), prose(words.phrase())]


def numbered_row(words: Pieces) -> list[RegisterPart]:
    """``1) 물 끓이기 2) 면 넣기``"""
    form = words.one("{}) ", "{}. ", "({}) ", "{}.")
    parts: list[RegisterPart] = []
    for number in range(1, words.rng.randint(2, 4)):
        parts += [left_alone((" " if parts else "") + form.format(number)), prose(words.phrase(3))]
    return parts


def check_list(words: Pieces) -> list[RegisterPart]:
    """``[x] 우유 사기``"""
    return [left_alone(words.one(*_BOXES)), prose(words.phrase(4))]


def table_row(words: Pieces) -> list[RegisterPart]:
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


def heading(words: Pieces) -> list[RegisterPart]:
    """``[공지] 내일은 쉽니다``, ``## 준비물``, ``<오늘의 할 일>``"""
    mark = words.one("# ", "## ", "### ", "[]", "[]", "<>", "【】", "《》", "== ==", "(())")
    if mark.startswith("#"):
        return [left_alone(mark), prose(words.phrase())]
    opening, closing = mark[: len(mark) // 2], mark[len(mark) // 2 :]
    if words.rng.random() < 0.4:
        return [left_alone(opening), prose(words.phrase(4)), left_alone(closing)]
    head = left_alone(words.one(*_HEADS)) if words.rng.random() < 0.7 else prose(words.entry())
    return [left_alone(opening), head, left_alone(closing + words.one(" ", " ", "")), prose(words.phrase())]


def key_value(words: Pieces) -> list[RegisterPart]:
    """``준비물: 물, 모자 꼭 가져오기``"""
    key = left_alone(words.one(*_KEYS)) if words.rng.random() < 0.6 else prose(words.entry())
    parts = [key, left_alone(words.one(": ", ": ", " : ", ":", " - ", " = ", "=", " → ", " -> ", " => "))]
    if words.rng.random() < 0.15:
        parts.append(left_alone(words.name() + " / "))
    return [*parts, prose(words.phrase())]


def keys_and_values(words: Pieces) -> list[RegisterPart]:
    """``장소: 학교 앞 / 시간: 10:00``"""
    joint = words.one(" / ", ", ", " | ", "; ")
    parts: list[RegisterPart] = []
    for _ in range(words.rng.randint(2, 3)):
        value = left_alone(_when(words)) if words.rng.random() < 0.25 else prose(words.entry())
        parts += [left_alone((joint if parts else "") + words.one(*_KEYS) + words.one(": ", ":", "=")), value]
    return parts


def menu(words: Pieces) -> list[RegisterPart]:
    """``김밥 3,500원 / 라면 4,000원``"""
    parts: list[RegisterPart] = []
    gap, joint = words.one(" ", " ", ": ", "........", " - "), words.one(" / ", ", ", " ")
    for _ in range(words.rng.randint(1, 3)):
        dish = left_alone(words.one(*_DISHES)) if words.rng.random() < 0.5 else prose(words.entry())
        parts += [*([left_alone(joint)] if parts else []), dish, left_alone(gap + _price(words))]
    return parts


def appointment(words: Pieces) -> list[RegisterPart]:
    """``3/14(목) 10:00 치과 가기``"""
    when, what = _when(words), prose(words.phrase(4))
    if words.rng.random() < 0.7:
        return [left_alone(when + words.one(" ", " ", " - ", ": ")), what]
    return [what, left_alone(words.one(f" {when}", f" ({when})"))]


def word_row(words: Pieces) -> list[RegisterPart]:
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
    date += f"({words.one(*_WEEKDAYS)})" if rng.random() < 0.5 else ""
    time = words.one(
        f"{hour:02}:{minute:02}",
        f"오후 {hour % 12 + 1}시",
        f"{hour:02}:{minute:02}~{(hour + 1) % 24:02}:{minute:02}",
    )
    return words.one(f"{date} {time}", f"{date} {time}", date, time)


LISTS: tuple[Callable[[Pieces], list[RegisterPart]], ...] = (
    bullet,
    numbered,
    numbered_row,
    check_list,
    table_row,
    heading,
    key_value,
    keys_and_values,
    menu,
    appointment,
    word_row,
)
