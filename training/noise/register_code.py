"""Notes with something for a machine in them: code, addresses, paths, file names, passwords. It stays as it is."""

from collections.abc import Callable

from training.noise.pieces import Pieces, RegisterPart, left_alone, prose, verbatim
from training.noise.register_chat import squashed

_SITES = (
    "www.{}.한국",
    "https://{}.com",
    "http://{}.kr",
    "https://ko.wikipedia.org/wiki/{}",
    "{}.com",
    "www.{}.net",
    "https://example.com/{}",
)
_ENDINGS = "hwp hwpx pdf docx xlsx pptx txt jpg png zip mp4 csv py".split()
_VERSIONS = ("", "", "_최종", "_최종(2)", "_진짜최종", "(1)", "_v2", "_수정", "-복사본", "_2026")
_STATEMENTS = (
    ('print("', '")'),
    ("print('", "')"),
    ('console.log("', '");'),
    ('alert("', '")'),
    ('{"', '": 1}'),
    ('{"할일": "', '"}'),
    ("['", "', 1, 2]"),
    ('text = "', '"'),
    ("SELECT * FROM 회원 WHERE 이름 = '", "';"),
    ("SELECT ", " FROM 주문;"),
    ('<a href="', '.html">'),
    ('title="', '"'),
    ("def ", "():"),
    ("const ", " = 0;"),
    ('git commit -m "', '"'),
    ("echo '", "'"),
    ("if ", " == 0:"),
)


def statement(words: Pieces) -> list[RegisterPart]:
    """``print("할수있다")``, ``{"할일": 1}``"""
    opening, closing = words.rng.choice(_STATEMENTS)
    spelt = words.phrase(3)
    apart = opening[-1] in "\"'"
    text = verbatim(spelt if apart and words.rng.random() < 0.6 else squashed(spelt))
    return _in_prose(words, [left_alone(opening), text, left_alone(closing)])


def assignment(words: Pieces) -> list[RegisterPart]:
    """``이름 = "민수"``, ``이름목록.append('민수')``"""
    name, value = squashed(words.noun()), words.one(words.name(), squashed(words.phrase(2)))
    form = words.one(
        '%s = "%s"', "%s = '%s'", "%s.append('%s')", "%s['%s'] += 1", '%s("%s")', "%s.%s = 0", "${%s} %s"
    )
    before, middle, after = form.split("%s")
    return _in_prose(
        words, [left_alone(before), verbatim(name), left_alone(middle), verbatim(value), left_alone(after)]
    )


def address(words: Pieces) -> list[RegisterPart]:
    """``www.쇼핑몰.한국/공지``"""
    before, after = words.one(*_SITES).split("{}")
    parts = [left_alone(before), verbatim(squashed(words.noun())), left_alone(after)]
    if words.rng.random() < 0.5:
        parts += [left_alone("/"), verbatim(words.one("", "게시판/") + squashed(words.phrase(2)))]
    if words.rng.random() < 0.2:
        parts += [left_alone("?q="), verbatim(squashed(words.phrase(2)))]
    return _in_prose(words, parts)


def path(words: Pieces) -> list[RegisterPart]:
    r"""``C:\사용자\홍길동\바탕화면``"""
    root, slash = words.rng.choice(
        (("C:\\", "\\"), ("D:\\", "\\"), ("/home/", "/"), ("~/", "/"), ("./", "/"), ("", "\\"), ("", "/"))
    )
    folders = [
        words.one("사용자", "바탕화면", "문서", "다운로드", "사진", squashed(words.noun()), words.name())
        for _ in range(words.rng.randint(1, 2))
    ]
    return _in_prose(words, [left_alone(root + slash.join(folders) + slash), *_file_name(words, squash=True)])


def file_name(words: Pieces) -> list[RegisterPart]:
    """``과제_최종(2).hwp``"""
    return _in_prose(words, _file_name(words, squash=words.rng.random() < 0.7))


def password(words: Pieces) -> list[RegisterPart]:
    """``비밀번호는 안녕하세요123!``"""
    label = words.one(
        "비밀번호: ", "비번: ", "아이디: ", "ID: ", "PW: ", "암호는 ", "비밀번호는 ", "와이파이 비번 ", ""
    )
    word, figures = squashed(words.phrase(2)), str(words.rng.randint(1, 9999))
    forms = ("{w}{f}!", "{w}_{f}", "{w}@{f}", "{w}!@#{f}", "{w}{f}#")
    form = words.one(*forms, *(("{w}{f}", "{f}{w}", "{w}.{f}") if label else ()))
    before, after = form.replace("{f}", figures).split("{w}")
    parts = [left_alone(label + before), verbatim(word), left_alone(after)]
    return parts if label else _in_prose(words, parts)


def _file_name(words: Pieces, squash: bool) -> list[RegisterPart]:
    name = words.phrase(3).replace(" ", words.one("", "_", "-")) if squash else words.phrase(3)
    return [verbatim(name), left_alone(words.one(*_VERSIONS) + "." + words.one(*_ENDINGS))]


def _in_prose(words: Pieces, parts: list[RegisterPart]) -> list[RegisterPart]:
    """Such parts alone, or beside a phrase of prose."""
    place = words.rng.random()
    if place < 0.3:
        return [prose(words.phrase(4)), left_alone(words.one(" ", ": ", " ")), *parts]
    if place < 0.6:
        return [*parts, left_alone(words.one(" ", " - ", " ")), prose(words.phrase(4))]
    return parts


CODE: tuple[Callable[[Pieces], list[RegisterPart]], ...] = (
    statement,
    assignment,
    address,
    path,
    file_name,
    password,
)
