"""Particles behind figures, Latin letters and marks, by their reading aloud; stand-ins.

The network takes all of these characters as they come, so it neither mends ``1를`` nor joins ``Docker 를``.
The rules here do, before it reads the sentence. Where a reading is uncertain (S3) the particle stays.

Stand-ins are the reverse: the network reads a figure in place of a placeholder (``%d개`` as ``3개``), so that
it takes the counter behind it for one.
"""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from model.text.changes import Change, find_changes
from model.text.hangul import decompose, is_syllable
from model.text.tokenizer import Span, matches_apart

OPEN, CLOSED = "open", "closed"
CODAS = {"": OPEN, "ㄹ": "ㄹ"}  # all others are closed
FORMS = {  # of a particle: behind a vowel, behind ㄹ, behind another consonant
    one: forms
    for forms in (
        ("는", "은", "은"),
        ("가", "이", "이"),
        ("를", "을", "을"),
        ("와", "과", "과"),
        ("로", "로", "으로"),
    )
    for one in forms
}
_READINGS = tomllib.loads(Path(__file__).with_name("readings.toml").read_text("utf-8"))
ENDINGS = tuple((reading, re.compile(pattern)) for reading, pattern in _READINGS["endings"])
LONGEST = 40  # characters that are read before a particle

_END = r"(?![0-9A-Za-z가-힣(])"
MARKS = "*_`'\"’”」』》"  # silent behind a word
_SHAPED = (
    rf"(?:[은는이을를와]|(?<![로동길] [0-9])가|(?<![0-9])과|과(?=[ ](?:같|다[르른]|비슷))){_END}"
    rf"|(?:으로|로)(?=(?:[는도만의써서]|부터|까지)?{_END})"
)
_JOINED = rf"(?:[은는을를와도의에]|에서|에게|으로|로|부터|까지|처럼)(?:[는도만의써서]?){_END}"
_JOINED_TO_WORDS = (
    rf"{_JOINED}|과{_END}|가{_END}(?![ ](?:보|봐|본|볼|봤|주|줘|줄|야|라|있|계))"
    rf"|만{_END}(?![ ](?:원|명|개|년|번|달러))"
    rf"|(?:입니다|입니까|이다|이며|이고|이?라는|이?라고|이?라며|이?라면서|이란|예요|이에요){_END}"
)
# Behind a closing quotation mark only; 라면 and 라도 are words, too.
_JOINED_TO_QUOTES = (
    rf"[고며]{_END}|이?라고[는도만요]{_END}|이?라(?:니|니까|던|든지|거나|길래|지만|기에|서){_END}"
    rf"|(?:란|이라도|이라면|이었다|이었던|였다|였던|이지만){_END}"
    "|이?라(?=[ ](?:[하한할합했해불쓰쓴썼적칭]|부르))"
)
# The particle, or a space and a particle. Groups are avoided: JavaScript has them in another order.
PARTICLE = re.compile(
    rf"(?<=[0-9A-Za-z%℃)\]{MARKS}])(?:{_SHAPED})"
    rf"|(?:(?<=[A-Za-z)\]])|(?<=[^\s][{MARKS}]))[ ](?:{_JOINED_TO_WORDS})"
    rf"|(?<=[^\s][\"'”’」』》])[ ](?:{_JOINED_TO_QUOTES})"
    rf"|(?<=[0-9])[ ](?:[은는을를의에와]|에서|으로|로|입니다|이다){_END}"
)
BRACKETS = re.compile(rf"(?<=[0-9A-Za-z가-힣{MARKS}\]])[(\[][^()\[\]\n]+[)\]]\Z")

# A figure follows the same rules as what takes its place. Before a counter a single letter is one, too.
_COUNTER = "[개명번년월일분초장권회배등줄칸살층대곳점차]|시간|번째|마리|가지|단계|학년|바이트"
PLACEHOLDER = re.compile(
    rf"""(?:(?<![0-9%])%(?:[0-9]+\$)?(?:\(\w+\))?[-+\#0]*[0-9]*(?:\.[0-9]+)?(?:l{{0,2}}[diufgsxc@n]|L?[0-9])
    | \{{\w*\}} | (?<![0-9A-Za-z.{{_])[A-Za-z])(?=[ ]?(?:{_COUNTER}))""",
    re.VERBOSE,
)
STAND_IN = "3"


def reading(text: str) -> str:
    """How the end of ``text`` is read aloud: its coda class; "" where that is uncertain.

    >>> [reading(text) for text in ("URL", "PC", "6", "사과(apple)", "S3")]
    ['ㄹ', 'open', 'closed', 'open', '']
    """
    text = text[-2 * LONGEST :]
    if brackets := BRACKETS.search(text):
        inside, text = brackets.group()[1:-1], text[: brackets.start()].rstrip(f"{MARKS}]")
        # A formula such as J(n) may be read with or without what its brackets hold.
        return reading(text) if is_syllable(text[-1:]) or reading(text) == reading(inside) else ""
    text = text.rstrip(f"{MARKS}]")
    if is_syllable(text[-1:]):
        return CODAS.get(decompose(text[-1])[2], CLOSED)
    text = text[-LONGEST:]
    return next((heard for heard, pattern in ENDINGS if pattern.search(text)), "")


def fitting(form: str, heard: str) -> str:
    """The form of a particle behind a word that is read so.

    >>> fitting("로", "closed"), fitting("을", "open"), fitting("에서", "open")
    ('으로', '를', '에서')
    """
    if form not in FORMS or not heard:
        return form
    return FORMS[form][(OPEN, "ㄹ", CLOSED).index(heard)]


def find_particles(text: str, verbatim: Iterable[Span]) -> tuple[Change, ...]:
    """The changes that join particles to the words before them, in the form that fits how these are read.

    >>> text = "1를 누르면 Docker 를 켠다."
    >>> [(change.wrong, change.right) for change in find_particles(text, ())]
    [('를', '을'), (' ', '')]
    """
    parts, done = [], 0
    for found in matches_apart(PARTICLE, text, verbatim):
        (start, end), form = found.span(), found[0].strip()
        base = next((each for each in ("으로", "로") if form.startswith(each)), form)
        parts += [text[done:start], fitting(base, reading(text[:start])), form[len(base) :]]
        done = end
    return find_changes(text, "".join([*parts, text[done:]])) if parts else ()


def find_stand_ins(text: str, verbatim: Iterable[Span]) -> tuple[Change, ...]:
    """The changes that put a figure in place of each placeholder before a counter.

    >>> [(change.wrong, change.right) for change in find_stand_ins("파일 %d개, 사과 a개", ())]
    [('%d', '3'), ('a', '3')]
    """
    return tuple(
        Change(*found.span(), found.start(), found.start() + len(STAND_IN), found[0], STAND_IN)
        for found in matches_apart(PLACEHOLDER, text, verbatim)
    )
