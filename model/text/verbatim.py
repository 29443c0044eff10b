"""Finds what stays exactly as it was typed: addresses, paths, code, tags, drawn-out vowels.

The network was trained on prose. In ``www.쇼핑몰.한국/안되요`` it would mend 안되요, and the address would lead nowhere. Prose
between the spans is corrected as always: ``<b>안되요</b>`` becomes ``<b>안 돼요</b>``, because only the tags are spans.
"""

import re
from collections.abc import Iterable

from model.text.changes import Change
from model.text.hangul import INITIALS, compose
from model.text.sentences import Span

# \w holds Hangul; a bound, since names are short and a search may begin at each letter
_NAME = r"[\w.-]{1,64}"
_START = r"(?<![\w.-])"
_QUOTED = r"""(?: "[^"\n]*" | '[^'\n]*' )"""

# The last vowel of what is said, written once more. Elsewhere than at the end it might be a particle (카페에, 나의).
_DRAWN_OUT = "|".join(
    f"(?<=[{''.join(compose(initial, vowel) for initial in INITIALS for vowel in same)}]){long}+"
    for same, long in (
        ("ㅏㅑㅘ", "아"),
        ("ㅐ", "애"),
        ("ㅓㅕㅝ", "어"),
        ("ㅔ", "에"),
        ("ㅗㅛ", "오"),
        ("ㅜㅠ", "우"),
        ("ㅣ", "이"),
    )
)

# Each alternative is one kind of span. A span may hold Hangul, which is why the network would change it.
_VERBATIM = re.compile(
    rf"""
      ```.*?(?:```|\Z)                                    # code between fences, over several lines
    | `[^`\n]+`                                           # code in a line
    | </?[A-Za-z][^<>\n]*>                                # tags: <b>, </a>, <img alt="…">
    | \]\([^()\s]+\)                                      # where a link leads: [알림](https://…)
    | \{{\{{[^{{}}\n]*\}}\}} | [$%]\{{[^{{}}\n]*\}}       # places to be filled in: {{{{이름}}}}, ${{이름}}
    | \{{\s*{_QUOTED}\s*:[^{{}}]*\}}                      # JSON: {{"할일": 1}}
    | \[\s*{_QUOTED}\s*(?:,[^\[\]\n]*)?\]                 # ["가", "나"]
    | {_QUOTED}\s*:\s*(?:{_QUOTED}|[-\d.]+|true|false|null|[\[{{])  # a line of JSON
    | {_START}{_NAME}\s?={{1,2}}\s?{_QUOTED}              # 이름 = "민수"
    | {_START}[^\W\d]{_NAME}\(\s*{_QUOTED}\s*(?:,[^()\n]*)?\)      # print("안녕"), 목록.append('할일')
    | {_START}[^\W\d][\w.]{{0,63}}\.[A-Za-z_]\w{{0,63}}\([^()\n]*\)  # 목록.sort(키)
    | ^[ ]*\$[ ][^\n]+                                     # a command: $ mkdir 할일
    | ^[ ]*(?:if|elif|while|for|def|class|return|import|from|const|let|var|function)\b[^\n]*[=({{:;][^\n]*  # a line of code
    | ^[ ]*(?:import|from)[ ]\S+(?:[ ](?:as|import)[ ]\S+)?[ ]*$
    | \b(?:id|pw|아이디|비밀번호|비번|암호)[ ]?[:=][ ]?\S+      # id: 꿈꾸는나무
    | {_START}{_NAME}\s?={{1,2}}\s?(?:True|False|None|true|false|null|[-\d.]+)\b  # 완료 = True
    | \b(?:SELECT|INSERT|UPDATE|DELETE)\b[^\n;]{{1,200}}?\b(?:FROM|INTO|SET|WHERE)\b[^\n;]*;?  # SQL
    | (?:https?|ftp|file)://[^\s<>"'“”‘’]+ | www\.[^\s<>"'“”‘’]+
    | {_START}[\w.+-]{{1,64}}@{_NAME}\.{_NAME}            # mail
    | (?<!\w)[@\#]\w(?:{_NAME}(?<!\.))?                   # mentions and hashtags
    | {_START}{_NAME}\.(?:한국|닷컴|닷넷|com|net|org|kr|io|dev)(?![A-Za-z])(?:/[^\s<>"'“”‘’]*)?
    | (?<!\w)(?:[A-Za-z]:)?(?:\\[\w.()~-]+)+\\?           # C:\사용자\바탕화면
    | (?<![\w/.])(?:~|\.{{1,2}})?(?:/{_NAME}){{2,}}/?     # /home/민수/숙제
    | (?<![\w.()-])[\w.()-]{{0,64}}[\w)]\.[A-Za-z][A-Za-z\d]{{1,4}}(?![\w.])  # 과제_최종(2).hwp
    | (?<!\w)[^\W_]\w{{0,63}}_\w{{0,63}}[^\W_]            # 최종_보고서
    | (?<!\S)[A-Za-z가-힣]{{1,64}}\d+[!@\#$%^&*]+(?!\S)  # passwords: 안녕하세요123!
    | (?:{_DRAWN_OUT}) (?=\s*(?:[.,!?~…ㅋㅎㅠㅜ^]|\Z|\n))     # 감사합니다아, 그래애?
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


def verbatim_spans(text: str) -> tuple[Span, ...]:
    """Where the spans stand, in order and apart from each other.

    >>> [text[a:b] for text in ["#오늘의운동 했어요, 과제_최종.hwp 를 보냄"] for a, b in verbatim_spans(text)]
    ['#오늘의운동', '과제_최종.hwp']
    """
    return tuple(Span(*found.span()) for found in _VERBATIM.finditer(text))


def spares_verbatim(change: Change, spans: Iterable[Span]) -> bool:
    """Whether a change touches none of the spans, and does not only move the spaces at their ends."""
    return not any(
        change.source_start < end
        and start < change.source_end
        or start < change.source_start < end
        or (change.moves_spaces and change.source_start <= end and start <= change.source_end)
        for start, end in spans
    )
