"""A predicate of the norm in the forms of everyday sentences, right and misspelt."""

from functools import cache

from model.norm.inflect import attach, formal, past, stem
from model.norm.kinds import Entry

# What is joined to each principal part, and what is written behind it. "|" parts the two.
_PLAIN = "지| 않았어요., 지| 않은 것 같아요., 던| 날이 생각난다., 기| 때문이에요., 네요|., 고| 나서 보니 괜찮았다., 지만| 괜찮아요., 거든요|."
_PLAIN_OF_VERBS = "고| 있어요., 고| 싶어요., 는| 중이에요., 는| 사람이 많아요., 지| 마세요., 게| 되었어요., 기| 전에 말해 주세요., 자고| 했어요., 다가| 멈췄다., 더라|."
_LINKED = "면| 좋겠어요., 니까| 걱정하지 마세요., ㄹ| 거예요., ㄹ| 때가 많아요., ㄴ| 것 같아요., ㄹ| 줄 몰랐다., ㄹ| 것이다."
_LINKED_OF_VERBS = "ㄴ| 적이 있어요., ㄹ| 수 있어요., 려고| 해요., 려면| 시간이 필요해요., 며| 웃었다., 면서| 노래를 불렀다., ㄴ| 뒤에 쉬었다."
_INFINITIVE = "요|., 서| 다행이에요., 도| 괜찮아요., | 보였다., 야| 한다."
_INFINITIVE_OF_VERBS = "야| 해요., | 봤어요., | 보세요., 서| 미안해요., 도| 돼요."
_PAST = "어요|., 다|., 습니다|., 지만| 괜찮아요., 던| 것 같아요., 을| 거예요."


def _split(endings: str) -> list[tuple[str, str]]:
    return [(end, rest) for end, _, rest in (each.strip().partition("|") for each in endings.split(", "))]


@cache
def clauses(entry: Entry) -> tuple[tuple[str, str], ...]:
    """(wrong, right) of a predicate, with what follows; only forms in which the two differ."""
    return tuple(
        (wrong, right)
        for spelling in entry.wrong
        for wrong, right in zip(_forms(spelling, entry), _forms(entry.right, entry), strict=True)
        if wrong != right
    )


def _forms(parts: str, entry: Entry) -> list[str]:
    of_verb, found = entry.word_class == "verbs", stem(parts)
    forms = [attach(found.plain, end) + rest for end, rest in _split(_PLAIN)]
    forms += [attach(found.linked, end) + rest for end, rest in _split(_LINKED)]
    forms += [found.infinitive + end + rest for end, rest in _split(_INFINITIVE)]
    forms += [past(found.infinitive) + end + rest for end, rest in _split(_PAST)]
    forms += [formal(found) + "니다.", formal(found) + "니까?"]
    if of_verb:
        forms += [attach(found.plain, end) + rest for end, rest in _split(_PLAIN_OF_VERBS)]
        forms += [attach(found.linked, end) + rest for end, rest in _split(_LINKED_OF_VERBS)]
        forms += [found.infinitive + end + rest for end, rest in _split(_INFINITIVE_OF_VERBS)]
    return forms
