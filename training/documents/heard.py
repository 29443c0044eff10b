"""The tables of what the encoder hears: ``heard.json`` in ``docs/numbers``, which ``python -m training heard`` writes."""

from training.documents.attention import KINDS
from training.documents.block import block
from training.documents.sources import Sources
from training.documents.wording import NOTHING, interval, number, table
from training.measure.heard import EVERYWHERE, HEARD, RANDOM

FEWEST = 5  # edits that a kind of mistake needs to get a row
WORDS = {
    "ko": {
        "fingerprint": "가중치의 지문",
        "fitted": "맞춘 문장 쌍",
        "asked": "물은 문장 쌍",
        "syllables": "물은 음절",
        "changed": "그 가운데 적힌 것과 다르게 소리 나는 음절",
        "place": "인코더의 자리",
        "start": "처음(임베딩과 위치)",
        "attention": "{}층 어텐션 뒤",
        "feed_forward": "{}층 피드포워드 뒤",
        "likeliest": "늘 가장 흔한 소리라고 하면",
        "all": "모든 음절",
        "differs": "적힌 것과 다르게 소리 나는 음절",
        "kind": "오류",
        "edits": "고친 곳",
        "score": "점수(nat)",
        "kept": "{} 뒤에도 고치는 비율",
        "lost": "{} 뒤 줄어든 점수(nat)",
        HEARD: "소리를 지운",
        RANDOM: "아무 방향이나 지운",
        "after": "{}: {} 뒤",
    },
    "en": {
        "fingerprint": "fingerprint",
        "fitted": "pairs that fit the probes",
        "asked": "pairs that were asked",
        "syllables": "syllables asked",
        "changed": "of them, heard otherwise than written",
        "place": "place in the encoder",
        "start": "start (embedding and position)",
        "attention": "after attention {}",
        "feed_forward": "after feed-forward {}",
        "likeliest": "always the commonest onset",
        "all": "all syllables",
        "differs": "heard otherwise than written",
        "kind": "mistake",
        "edits": "edits",
        "score": "score (nats)",
        "kept": "still fixed, {}",
        "lost": "nats lost, {}",
        HEARD: "what is heard erased",
        RANDOM: "random directions erased",
        "after": "{}: {}",
    },
}


def _cell(found: list | None) -> str:
    if found is None or found[0] is None:
        return NOTHING
    return number(found[0], 2) if found[1] is None else interval(found)


def place_name(place: int, language: str) -> str:
    """A place of the residual stream in words.

    >>> [place_name(place, "en") for place in (0, 1, 2, 8)]
    ['start (embedding and position)', 'after attention 1', 'after feed-forward 1', 'after feed-forward 4']
    """
    if place == 0:
        return WORDS[language]["start"]
    return WORDS[language]["attention" if place % 2 else "feed_forward"].format((place + 1) // 2)


@block("heard-size")
def size(sources: Sources, language: str) -> str:
    """How many sentences and syllables, and of which weights."""
    found, say = sources.measured("heard"), WORDS[language]
    sentences, syllables = found["sentences"], found["syllables"]
    numbers = sentences["fitted"], sentences["asked"], syllables["asked"], syllables["changed"]
    header = [say[name] for name in ("fitted", "asked", "syllables", "changed", "fingerprint")]
    return table(header, [[*(f"{each:,}" for each in numbers), f"`{found['fingerprint']}`"]])


@block("heard-places")
def places(sources: Sources, language: str) -> str:
    """How often a probe of each place knows the onset that is heard next."""
    found, say = sources.measured("heard"), WORDS[language]
    rows = [
        [place_name(place, language), *(_cell(each[name]) for name in ("all", "changed"))]
        for place, each in enumerate(found["places"])
    ]
    rows.append([say["likeliest"], *(_cell(found["likeliest"][name]) for name in ("all", "changed"))])
    return table([say["place"], say["all"], say["differs"]], rows)


@block("heard-erased")
def erased(sources: Sources, language: str) -> str:
    """What becomes of fixes when what is heard is erased at all places, beside as many random directions."""
    found, say = sources.measured("heard")["erased"], WORDS[language]
    header = [say["kind"], say["edits"], say["score"]]
    header += [say[name].format(say[of]) for name in ("kept", "lost") for of in (HEARD, RANDOM)]
    rows = []
    for kind in (each for each in KINDS if found.get(each, {}).get("edits", 0) >= FEWEST):
        each = found[kind]
        cells = [_cell(each[of][EVERYWHERE][name]) for name in ("kept", "lost") for of in (HEARD, RANDOM)]
        rows.append(
            [KINDS[kind][0 if language == "ko" else 1], str(each["edits"]), _cell(each["score"]), *cells]
        )
    return table(header, rows)


@block("heard-erased-places")
def erased_places(sources: Sources, language: str) -> str:
    """The nats that liaison and spacing lose when what is heard is erased at one place alone."""
    found, say = sources.measured("heard")["erased"], WORDS[language]
    kinds = [kind for kind in ("liaison", "spacing") if kind in found]
    names = [KINDS[kind][0 if language == "ko" else 1] for kind in kinds]
    header = [say["after"].format(name, say[of]) for name in names for of in (HEARD, RANDOM)]
    rows = []
    for place in [key for key in found[kinds[0]][HEARD] if key != EVERYWHERE] if kinds else []:
        cells = [_cell(found[kind][of][place]["lost"]) for kind in kinds for of in (HEARD, RANDOM)]
        rows.append([place_name(int(place), language), *cells])
    return table([say["place"], *header], rows)
