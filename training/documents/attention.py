"""The tables of *does attention matter?*: how well each method agrees with leaving characters out.

``attention.json`` in ``docs/numbers`` holds what ``benchmarks/does_attention_matter.py`` measured, as
``(mean, half the 95% interval)``.
"""

from training.documents.block import block
from training.documents.sources import Sources
from training.documents.wording import interval, percent, table

# The order of the study: the network's own attention first, then what is made of it, then gradients.
METHODS = {
    "attention": ("어텐션(모든 헤드의 평균)", "raw attention, mean of all heads"),
    "norms": ("크기를 곱한 어텐션", "norm-weighted attention"),
    "rollout": ("rollout", "rollout"),
    "alti": ("ALTI", "ALTI"),
    "value_zeroing": ("값 지우기", "value zeroing"),
    "gradient": ("기울기×입력", "gradient × input"),
    "integrated_gradients": ("적분 기울기", "integrated gradients"),
}
KINDS = {
    "spacing": ("띄어쓰기", "spacing"),
    "sound": ("소리 나는 대로", "written as it sounds"),
    "jamo": ("자모", "mistyped jamo"),
    "liaison": ("연음(머거 → 먹어)", "liaison (머거 → 먹어)"),
    "word": ("그 밖의 낱말", "other words"),
}
WORDS = {
    "ko": {
        "edits": "고친 곳",
        "fingerprint": "가중치의 지문",
        "sentences": "문장",
        "layer": "{}층만",
        "blind": "아무 글자나",
        "first": "빼 본 것과 같은 글자를 첫째로 꼽은 비율",
        "order": "글자 전체의 순위 상관",
        "kind": "오류",
        "top": "맨 위층만",
        "moved": "연음으로 고친 곳",
        "own": "어텐션이 옮겨 쓸 자리를 첫째로 꼽은 곳",
        "next": "빼면 다음 글자가 가장 크게 달라지는 곳",
        "rank": "가장 많이 본 헤드는, 껐을 때의 효과로 헤드 {}개 가운데 몇 번째인가",
        "is_first": "그 헤드가 효과로도 첫째인 비율",
        "correlation": "본 양과 효과의 순위 상관",
    },
    "en": {
        "edits": "edits",
        "fingerprint": "fingerprint",
        "sentences": "sentences",
        "layer": "layer {} alone",
        "blind": "a character chosen blindly",
        "first": "same first character as leaving out",
        "order": "rank correlation over all characters",
        "kind": "mistake",
        "top": "its last layer",
        "moved": "edits of liaison",
        "own": "of them, attention names the place that is copied from",
        "next": "of them, leaving out matters most for the next character",
        "rank": "rank, in the effect of switching it off, of the head that looks most, among {} heads",
        "is_first": "how often that head is first in effect",
        "correlation": "rank correlation of looking and effect",
    },
}


def _name(names: tuple[str, str], language: str) -> str:
    return names[0 if language == "ko" else 1]


def _method(name: str, language: str) -> str:
    return _name(METHODS.get(name, (name, name)), language)


@block("attention-size")
def size(sources: Sources, language: str) -> str:
    """How many edits were asked about, and of which weights."""
    found, say = sources.measured("attention"), WORDS[language]
    return table(
        [say["edits"], say["sentences"], say["fingerprint"]],
        [[f"{found['edits']:,}", f"{found['sentences']:,}", f"`{found['fingerprint']}`"]],
    )


@block("attention-methods")
def methods(sources: Sources, language: str) -> str:
    """How often each method names the same first character as leaving out, and how well it orders all of them."""
    found, say = sources.measured("attention"), WORDS[language]
    best = max(each["first"][0] for each in found["methods"].values())
    rows = []
    for name in sorted(found["methods"], key=_place):
        first, order = (found["methods"][name][key] for key in ("first", "correlation"))
        cell = interval(first)
        row = [_method(name, language), f"**{cell}**" if first[0] == best else cell, interval(order)]
        rows.append(row)
        if name == "attention":
            layers = enumerate(found["layers"], start=1)
            rows += [[say["layer"].format(at), interval(each), ""] for at, each in layers]
    rows.append([say["blind"], f"{found['chance'][0]:.2f}", ""])
    return table(["", say["first"], say["order"]], rows)


def _place(method: str) -> int:
    return list(METHODS).index(method) if method in METHODS else len(METHODS)


@block("attention-kinds")
def kinds(sources: Sources, language: str) -> str:
    """The same by kind of mistake, for the methods that the study compares."""
    found, say = sources.measured("attention"), WORDS[language]
    shown = [name for name in ("alti", "integrated_gradients") if name in found["methods"]]
    names = [_method(name, language) for name in shown]
    raw = {"ko": "어텐션", "en": "attention"}[language]
    rows = []
    for kind in (each for each in KINDS if each in found["kinds"]):
        each = found["kinds"][kind]
        row = [_name(KINDS[kind], language), str(each["edits"]), interval(each["methods"]["attention"])]
        rows.append(
            [*row, interval(each["layers"][-1]), *(interval(each["methods"][name]) for name in shown)]
        )
    return table([say["kind"], say["edits"], raw, say["top"], *names], rows)


@block("attention-liaison")
def liaison(sources: Sources, language: str) -> str:
    """Where a consonant moved to the next syllable: what attention names, and what matters."""
    found, say = sources.measured("attention")["liaison"], WORDS[language]
    rows = [
        [say["moved"], str(found["edits"])],
        [say["own"], str(found["own"])],
        [say["next"], str(found["next"])],
    ]
    return table(["", ""], rows)


@block("attention-heads")
def heads(sources: Sources, language: str) -> str:
    """Whether the head that looks at an edit most is the one that matters most."""
    found, say = sources.measured("attention")["heads"], WORDS[language]
    rows = [
        [say["rank"].format(found["count"]), interval(found["rank"], 1)],
        [say["is_first"], percent(found["first"][0], 0)],
        [say["correlation"], interval(found["correlation"])],
    ]
    return table(["", ""], rows)


@block("attention-all")
def everything(sources: Sources, _language: str) -> str:
    """All that was measured, for the page of the benchmark."""
    return tables(sources.measured("attention"))


def tables(found: dict) -> str:
    """All that ``benchmarks/does_attention_matter.py`` measured, as Markdown."""
    methods, layers = list(found["methods"]), len(found["layers"])
    by_method = [
        [name, *(interval(found["methods"][name][key]) for key in ("first", "three", "correlation"))]
        for name in methods
    ]
    header = ["method", "names the same first character", "shares of the first three", "rank correlation"]
    chance = ["by chance", interval(found["chance"]), "", ""]
    first = f"{found['edits']} edits in {found['sentences']} sentences, weights `{found['fingerprint']}`."
    alone = [[str(at), interval(each)] for at, each in enumerate(found["layers"], start=1)]
    kinds = sorted(found["kinds"].items(), key=lambda item: -item[1]["edits"])
    of_methods = [
        [kind, str(each["edits"]), *(interval(each["methods"][name]) for name in methods)]
        for kind, each in kinds
    ]
    of_layers = [[kind, str(each["edits"]), *map(interval, each["layers"])] for kind, each in kinds]
    moved, heads = found["liaison"], found["heads"]
    last = [
        ["edits of liaison", str(moved["edits"])],
        ["of them, leaving out matters most for the next character", str(moved["next"])],
        ["of them, attention names the mistyped one", str(moved["own"])],
        [f"rank in effect, of {heads['count']} heads, of the one that looks most", interval(heads["rank"])],
        ["how often it is first in effect", interval(heads["first"])],
        ["rank correlation of looking and effect", interval(heads["correlation"])],
    ]
    names = [f"layer {at}" for at in range(1, layers + 1)]
    return "\n\n".join(
        [
            first,
            table(header, [*by_method, chance]),
            table(["raw cross-attention of layer", "names the same first character"], alone),
            table(["kind of mistake", "edits", *methods], of_methods),
            table(["kind of mistake", "edits", *names], of_layers),
            table(["", ""], last),
        ]
    )
