"""The tables of three heads in one sentence, and of what is left without more and more heads.

``heads.json`` of the model says most; ``stories.json`` in ``docs/numbers`` holds what ``benchmarks/head_stories.py`` asked the network.
"""

import numpy as np

from model.analysis.roles import COPIED, EDITED, LIAISON, NEXT, OWN, PREVIOUS
from model.survey.head_survey import HeadMeans, HeadSurvey
from model.trace.interventions import Head
from training.documents.block import block
from training.documents.sources import Sources
from training.documents.wording import NOTHING, interval, percent, table

LOSS = "loss"
SIDES = {
    "ko": {"encoder": "인코더", "decoder": "디코더", "cross": "디코더→인코더"},
    "en": {"encoder": "encoder", "decoder": "decoder", "cross": "decoder→encoder"},
}
WORDS = {
    "ko": {
        LOSS: "읽는 곳을 짚는 손가락",
        "for": "귀 기울이는 헤드",
        "against": "적은 대로 두려는 헤드",
        "head": "헤드",
        "gone": "{}개를 뺌",
        "least": "효과가 작은 것부터 빼기",
        "random": "아무 순서로 빼기",
        "roles": "역할을 센 문장 쌍",
        "effects": "헤드를 하나씩 끈 쌍",
        "judged": "헤드를 빼 가며 본 다른 쌍",
        "right": "그 가운데 맞는 문장",
        "second": "다음으로 큰 헤드를 껐을 때 줄어드는 로그 확률(nat)",
        "without": "이 헤드 없이 쓴 문장",
    },
    "en": {
        LOSS: "the finger on the line",
        "for": "the listener",
        "against": "the keeper",
        "head": "head",
        "gone": "without {}",
        "least": "least effective first",
        "random": "in random order",
        "roles": "pairs in which roles were counted",
        "effects": "pairs in which each head was switched off",
        "judged": "other pairs, judged as heads are removed",
        "right": "of them, sentences that are right",
        "second": "loss without the next head in this list (nats)",
        "without": "written without this head",
    },
}
# What is measured, in Korean and in English. The keys are ("share", role, rows), or ("effect", its name, "").
SAYS = {
    ("share", OWN, COPIED): ("베껴 쓸 때 제 글자를 보는 비율", "looks at its own character, copying"),
    ("share", OWN, EDITED): ("고칠 때 제 글자를 보는 비율", "looks at its own character, correcting"),
    ("share", PREVIOUS, COPIED): ("베껴 쓸 때 앞 글자", "looks at the previous one, copying"),
    ("share", PREVIOUS, EDITED): ("고칠 때 앞 글자", "looks at the previous one, correcting"),
    ("share", NEXT, COPIED): ("베껴 쓸 때 다음 글자", "looks at the next one, copying"),
    ("share", NEXT, EDITED): ("고칠 때 다음 글자", "looks at the next one, correcting"),
    ("share", LIAISON, EDITED): ("받침이 옮겨 간 글자", "looks where a coda had moved"),
    ("effect", EDITED, ""): (
        "끄면 고친 글자에서 고치는 쪽이 달라지는 값(nat)",
        "change of log p(fix) − log p(keep) without it, at corrections",
    ),
    ("effect", COPIED, ""): (
        "끄면 베낀 글자의 로그 확률이 달라지는 값",
        "change of log p without it, at copies",
    ),
    ("effect", LOSS, ""): (
        "끄면 맞는 문장의 로그 확률이 줄어드는 값",
        "what the right sentence loses without it",
    ),
}


def heads_of_stories(survey: HeadSurvey) -> dict[str, Head]:
    """The head without which most is lost; the one that speaks most for fixes, and the one that does against them."""

    def best(name: str, sign: int) -> Head:
        values = np.concatenate([_effect(survey, kind, name).mean.ravel() for kind in survey.kinds])
        return survey.heads[int((sign * values).argmax())]

    return {LOSS: best(LOSS, 1), "for": best(EDITED, -1), "against": best(EDITED, 1)}


def _effect(survey: HeadSurvey, kind: str, name: str) -> HeadMeans:
    found = survey.effect(kind, name)
    if found is None:
        raise ValueError(f"the survey did not measure the effect {name} of {kind}")
    return found


def head_name(head: Head, language: str = "en") -> str:
    """A head in words: its kind of attention, then layer and head, counted from 1.

    >>> head_name(Head("cross_attention", 0, 2)), head_name(Head("cross_attention", 0, 2), "ko")
    ('decoder→encoder 1·3', '디코더→인코더 1·3')
    """
    kind = head.kind.removesuffix("_attention")
    return f"{SIDES[language].get(kind, kind)} {head.layer + 1}·{head.head + 1}"


@block("story-size")
def size(sources: Sources, language: str) -> str:
    """How many sentences the survey of heads read."""
    survey, say = sources.survey, WORDS[language]
    rows = [
        [say["roles"], str(survey.sentences)],
        [say["effects"], str(survey.effect_sentences)],
        [say["judged"], str(survey.judged)],
        [say["right"], str(survey.judged_right)],
    ]
    return table(["", ""], rows)


@block("story-heads")
def heads(sources: Sources, language: str) -> str:
    """What the three heads look at and what is lost without them."""
    return heads_table(sources.survey, language)


def heads_table(survey: HeadSurvey, language: str) -> str:
    stories, say = heads_of_stories(survey), WORDS[language]
    index = 0 if language == "ko" else 1
    rows = []
    for key, texts in SAYS.items():
        kind, what, name = key
        cells = []
        for head in stories.values():
            found = survey.role(head.kind, what, name) if kind == "share" else survey.effect(head.kind, what)
            cells.append(_cell(found, head))
        rows.append([texts[index], *cells])
    names = [f"{say[story]}: {head_name(head, language)}" for story, head in stories.items()]
    losses = sorted(
        _effect(survey, kind, LOSS).mean[place] for kind in survey.kinds for place in np.ndindex(survey.shape)
    )
    rows.append([say["second"], f"{losses[-2]:.2f}" if len(losses) > 1 else NOTHING, "", ""])
    return table([say["head"], *names], rows)


def _cell(found: HeadMeans | None, head: Head) -> str:
    if found is None:
        return NOTHING
    at = head.layer, head.head
    return interval((found.mean[at], found.margin[at]), 3)


@block("story-sentence")
def sentence(sources: Sources, language: str) -> str:
    """What the three heads do for each correction of the sentence, and what is written without them."""
    return sentence_table(sources.measured("stories"), language)


def sentence_table(found: dict, language: str) -> str:
    """The table of ``sentence``, from what ``benchmarks/head_stories.py`` wrote."""
    heads, say = {story: Head(*each) for story, each in found["heads"].items()}, WORDS[language]
    texts = {
        "ko": ("고친 곳", "가장 많이 본 헤드", "효과로는 {}개 가운데 {}번째"),
        "en": ("change", "looks most", "{1} of {0} in effect"),
    }
    change, looks, ranks = texts[language]
    rows = []
    for each in found["changes"]:
        looker = head_name(Head(*each["looker"]), language)
        effects = [f"{each['effects'][story]:+.2f}" for story in heads]
        rows.append(
            [f"{each['wrong']} → {each['right']}", f"{looker}, {ranks.format(each['of'], each['rank'])}"]
            + effects
        )
    rows.append([say["without"], "", *(found["without"][story] or NOTHING for story in heads)])
    names = [head_name(head, language) for head in heads.values()]
    return f"`{found['source']}` → `{found['target']}`\n\n" + table([change, looks, *names], rows)


@block("story-pruning")
def pruning(sources: Sources, language: str) -> str:
    """The sentences that come out exactly right, and the right ones left alone, without more and more heads."""
    return pruning_table(sources.survey, language)


def pruning_table(survey: HeadSurvey, language: str) -> str:
    """The least effective heads first, and the mean of the random orders."""
    say = WORDS[language]
    orders = [rows for name, rows in survey.pruning.items() if name != "effect"]
    random = np.mean(orders, axis=0) if orders else np.array(survey.pruning["effect"]) * np.nan
    exact, untouched = {"ko": ("똑같이 고침", "맞는 문장을 그대로 둠"), "en": ("exact", "untouched")}[
        language
    ]
    header = [f"{what}, {say[order]}" for what in (exact, untouched) for order in ("least", "random")]
    rows = [
        [say["gone"].format(int(removed)), *map(_share, (first, by_chance, left, left_by_chance))]
        for (removed, first, left), (_, by_chance, left_by_chance) in zip(
            survey.pruning["effect"], random, strict=True
        )
    ]
    return table([say["head"], *header], rows)


def _share(value: float) -> str:
    return percent(None if np.isnan(value) else float(value))
