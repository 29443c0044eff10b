"""Korean sentences to measure with, as many and as long as wanted, with errors such as people make."""

import random
from typing import NamedTuple

from training.noise.pairs import make_pair

WHEN = (
    "오늘 아침에|어제 저녁에|지난 주말에|점심시간에|방학 동안|비가 오는 날에|새벽에|시험이 끝난 뒤에|"
    "추운 겨울밤에|학교를 마치고|한 달 전에|잠들기 전에|눈이 많이 내려서|날씨가 좋아서|"
    "길이 막혀서|배가 고파서"
).split("|")
WHO = (
    "나는|동생은|우리 가족은|친구들은|옆집 아이는|같은 반 친구가|할머니와 나는|젊은 부부가|형과 누나는|"
    "삼촌은|이웃 사람들은|몇몇 학생들이|그 사람은|어린 조카가"
).split("|")
WHERE = (
    "학교 도서관에서|집 앞 공원에서|부엌에서|바닷가에서|낯선 골목에서|넓은 운동장에서|작은 찻집에서|"
    "시장 입구에서|할머니 댁에서|버스 정류장에서|강가에 앉아|창문 옆에서"
).split("|")
HOW = "조용히|천천히|다 같이|오랫동안|즐겁게|말없이|부지런히|다시 한번|꼼꼼하게|깜짝 놀라".split("|")
WHAT = (  # how a clause goes on, and how it ends
    ("재미있는 책을 읽고", "재미있는 책을 읽었다."),
    ("따뜻한 국밥을 먹고", "따뜻한 국밥을 먹었습니다."),
    ("잃어버린 열쇠를 찾았지만", "잃어버린 열쇠를 찾았어요."),
    ("꽃밭에 물을 주고", "꽃밭에 물을 주었다."),
    ("서로의 이야기를 듣고", "서로의 이야기를 들었다."),
    ("낡은 의자를 고치고", "낡은 의자를 고쳤습니다."),
    ("밀린 숙제를 끝내지 못해서", "밀린 숙제를 끝내지 못했다."),
    ("갑자기 소나기를 만났는데", "갑자기 소나기를 만났어요."),
    ("고양이에게 먹이를 주었더니", "고양이에게 먹이를 주었다."),
    ("옛날 사진을 들여다보다가", "옛날 사진을 들여다보았다."),
    ("맛있는 떡볶이를 만들어서", "맛있는 떡볶이를 만들었습니다."),
    ("창밖의 별을 세다가", "창밖의 별을 세었다."),
    ("새로운 노래를 배웠는데", "새로운 노래를 배웠어요."),
    ("무거운 짐을 옮기느라", "무거운 짐을 옮겼다."),
    ("손뼉을 치며 웃다가", "손뼉을 치며 웃었습니다."),
    ("편지를 여러 번 고쳐 쓰고", "편지를 여러 번 고쳐 썼다."),
)


SHORTEST = 16  # tokens; there are too few sentences with fewer to find one of each length


class MadePair(NamedTuple):
    wrong: str
    right: str


def right_sentence(rng: random.Random, characters: int) -> str:
    """One sentence, its only full stop at the end, of at least about ``characters`` characters."""
    clauses, length = [], 0
    while True:
        parts = [rng.choice(words) for words in (WHEN, WHO, WHERE, HOW) if rng.random() < 0.6]
        going_on, end = rng.choice(WHAT)
        length += sum(len(part) + 1 for part in parts) + len(end) + 1
        if length >= characters:
            return " ".join([*clauses, *parts, end])
        clauses += [*parts, going_on]


def pair_of(rng: random.Random, tokens: int) -> MadePair:
    """A wrong sentence of exactly ``tokens`` - 1 characters, the end mark being a token, and the right one.

    Raises ValueError for fewer than SHORTEST tokens.
    """
    if tokens < SHORTEST:
        raise ValueError(f"a sentence should have {SHORTEST} tokens or more, received {tokens}")
    while True:
        right = right_sentence(rng, tokens - 12)
        if abs(len(right) + 1 - tokens) <= 1 + tokens // 20:
            wrong = make_pair(right, rng).wrong
            if wrong != right and len(wrong) + 1 == tokens:
                return MadePair(wrong, right)


def pairs_of_a_file(rng: random.Random, count: int) -> list[MadePair]:
    """Sentences of 10 to about 90 characters; one in ten is right as it is, as ``training.noise`` has it."""
    rights = [right_sentence(rng, rng.randint(8, 80)) for _ in range(count)]
    return [MadePair(make_pair(right, rng).wrong, right) for right in rights]
