"""What is no prose although it holds Hangul: addresses, paths, hashtags, code …, each with its kind.

>>> kind, text = inline_span(random.Random(1))
>>> kind in PROTECTED
True
"""

import random

PROTECTED = frozenset(
    ("address", "path", "hashtag", "mention", "file name", "code", "JSON", "mark-up", "password")
)

# Words as they stand in addresses and names of files: joined, and not always spelt right.
JOINED = (
    "할수있다|안되요|오늘의운동|우리집강아지|몇일뒤|먹고싶다|자주묻는질문|여름방학사진|가볼만한곳|새소식|장보기목록|봄소풍|"
    "내문서|바탕화면|꿈나무|쇼핑몰|못가요|책상위에|비오는날|학급신문|숙제검사|좋은글|친구들과함께|다시만나요|이번주할일"
).split("|")
NAMES = (
    "민수|영희|서연|은우|지안|하늘|바다|이바름|김만듦|이바램|한아름|정다와|박하나|최고운|남나무|나나|송송이|안정한|고아라|유나|이해솔|금샛별|"
    "강물|도레미|배수진"
).split("|")
TITLES = ("", " 씨", " 님", " 선생님", " 작가", "이")


def name_with_title(rng: random.Random, title: bool = True) -> str:
    return rng.choice(NAMES) + (rng.choice(TITLES) if title else "")


def inline_span(rng: random.Random) -> tuple[str, str]:
    """(kind, text) of something that may stand inside a sentence."""
    word, other, number = rng.choice(JOINED), rng.choice(JOINED), rng.randint(1, 99)
    return rng.choice(
        (
            ("address", f"www.{word}.한국/{other}"),
            ("address", f"https://예시.한국/{word}?쪽={number}"),
            ("address", f"{word}@예시.한국"),
            ("path", f"C:\\사용자\\{rng.choice(NAMES)}\\{word}"),
            ("path", f"/home/{word}/{other}"),
            ("path", f"./{word}/{other}.md"),
            ("file name", f"{word}_{number}.hwp"),
            ("file name", f"{word}.png"),
            ("hashtag", f"#{word}"),
            ("hashtag", f"#{word} #{other}"),
            ("mention", f"@{rng.choice(NAMES)}"),
            ("password", f"{word}{number}!"),
            ("code", f"`{word}({number})`"),
            ("code", f"`{word} = '{other}'`"),
            ("mark-up", "<br>"),
            ("mark-up", f'<img alt="{word}">'),
        )
    )


def code_line(rng: random.Random) -> tuple[str, str]:
    """(kind, text) of a line that is code or JSON as a whole."""
    word, other, number = rng.choice(JOINED), rng.choice(JOINED), rng.randint(1, 99)
    return rng.choice(
        (
            ("code", f"print('{word}')"),
            ("code", f"{word}.append('{other}')"),
            ("code", f"if {word} >= {number}: {other} = True"),
            ("code", f"SELECT {word} FROM {other} WHERE id={number};"),
            ("code", f"$ mkdir {word} && cd {word}"),
            ("code", f'let {word} = "{other}";'),
            ("JSON", f'{{"{word}": {number}}}'),
            ("JSON", f'{{"{word}": "{other}", "수": {number}}}'),
            ("JSON", f'["{word}", "{other}"]'),
        )
    )
