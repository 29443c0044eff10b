"""Spacing mistakes: spaces dropped or inserted where 한글 맞춤법 제2항, 제41항–제50항 do not allow it.

Each rule is ``rule(draft, rng, rate)``: every place where it can act fires with probability ``rate``.
Places are found in the correct text, so it does not matter if other families have changed the words around
them. A rule touches only the space: a dropped one leaves the cell ``""``, an inserted one stands at the end of
the cell before it. Words are recognised by their spelling alone, without a dictionary of parts of speech, so the
name of a rule can be wrong where two words look alike. The result is still a mistake, although the joined form
may be right elsewhere: 먹는 데 becomes 먹는데.

Where the standard allows both spellings (제43항 다만, 제46항, 제47항, see ``_either_way``, and 제50항, see
``compounds``) nothing is done, because the model would learn to "correct" what is right. Only a writer who leaves out
every space leaves out these, too.
"""

import random
import re
from collections.abc import Callable, Mapping

from model.text.hangul import is_syllable, syllables_with_coda
from training.noise.compounds import free_spaces
from training.noise.draft import Draft, Edit
from training.noise.word_parts import PARTICLES, particle_start, suffix_start

FAMILY = "spacing"


RIEUL = syllables_with_coda("ㄹ")
ADNOMINAL = syllables_with_coda("ㄴ", "ㄹ")  # last syllables of 관형사형: -는, -(으)ㄴ, -던, -(으)ㄹ
ENDS_WORD = rf"(?=(?:{'|'.join(sorted(PARTICLES, key=len, reverse=True))})?(?![가-힣]))"

# 제47항: after -아/-어 an auxiliary may be joined, and so may 듯하다 and the like after 관형사형.
_CONNECTIVE = re.compile(
    r"(?:[어아여해려져워줘봐내켜겨쳐러써퍼배깨떼베라돼춰둬세]|[어아나]가|[나어아]와|(?<![가-힣])[가와사자나타서])$"
)
_AUXILIARY = re.compile(
    "[보봐봤볼본봅봄주줘줬줄준줍줌버가갔갈간갑감오와왔올온옵나났난날내냈낸낼냅놓놨두둬뒀둔둘둡대댔있계치빠]|드[리려렸릴린립림]"
)
_JOINABLE_NOUN = re.compile("(?:듯|만|법|척|체|뻔|양)(?=[하한할함합해했])|듯싶|성싶")
# 제43항 다만: counting units after figures and in an order (삼 학년, 이십 분) may be joined.
_NUMBER = re.compile("(?<![가-힣])[일이삼사오육칠팔구십백천만]+$")
_COUNTED = re.compile("[년월일시분초층급호과차권번장절]|학년")


def _either_way(before: str, after: str) -> bool:
    """Whether ``before`` and ``after`` (a sentence cut at a boundary) may be written either apart or joined."""
    if before[-1].isdigit():
        return True
    return bool(
        (_AUXILIARY.match(after) and _CONNECTIVE.search(before))
        or (before[-1] in ADNOMINAL and _JOINABLE_NOUN.match(after))
        or (_COUNTED.match(after) and _NUMBER.search(before))
        or (before.endswith("좀") and after.startswith("더"))  # 제46항
        or (before.endswith("못") and after[0] in "하한할함합해했")  # 못하다 is a word of its own
    )


def _is_free(draft: Draft, position: int) -> bool:
    """Whether no spacing rule has acted at ``position`` yet."""
    return not any(edit.family == FAMILY and edit.start <= position < edit.end for edit in draft.edits)


def _drop(draft: Draft, rule: str, position: int) -> None:
    if draft.cells[position] == " ":
        draft.put(rule, FAMILY, position, [""])


def insert_space(draft: Draft, rule: str, position: int) -> None:
    """Put a space before ``text[position]``, if both sides still have their letters and no space stands there."""
    before, after = draft.cells[position - 1], draft.cells[position]
    if before and after and before[-1] != " " and after[0] != " " and _is_free(draft, position - 1):
        draft.put(rule, FAMILY, position - 1, [before + " "])


def join_at(pattern: re.Pattern, draft: Draft, rng: random.Random, rate: float, rule: str) -> None:
    """Drop the space with which each match of ``pattern`` ends."""
    if rate > 0:
        for match in pattern.finditer(draft.text):
            if rng.random() < rate:
                _drop(draft, rule, match.end() - 1)


# Hangul stands on one side at least, and no dash or other sign, beside which a space is a matter of taste.
_SPACE = re.compile(r" (?:(?<=[가-힣] )(?=[\w(\"'“‘])|(?<=[\w.,!?…:;)\"'”’] )(?=[가-힣]))")


def space_dropped(draft: Draft, rng: random.Random, rate: float) -> None:
    """Any space left out, except where the standard allows that: 집에 갔다 -> 집에갔다 (제2항)."""
    text = draft.text
    chosen = [match.start() for match in _SPACE.finditer(text) if rng.random() < rate]
    chosen = [position for position in chosen if not _either_way(text[:position], text[position + 1 :])]
    if chosen:
        free = free_spaces(text)
        for position in chosen:
            if position not in free:
                _drop(draft, "space_dropped", position)


def space_inserted(draft: Draft, rng: random.Random, rate: float) -> None:
    """A space between two Hangul syllables of one word: 사람이 -> 사 람이 (제2항)."""
    text = draft.text
    for position in range(1, len(text)):
        inside = is_syllable(text[position - 1]) and is_syllable(text[position])
        if inside and rng.random() < rate and not _either_way(text[:position], text[position:]):
            insert_space(draft, "space_inserted", position)


# Common words begin with some of these nouns, too (수, 거, 지 …), so the word must end after them. _OTHER_WORDS are
# words that look like such a noun with a particle.
_OTHER_WORDS = "거의|바로|수[의로에까]|지[의로도]|적[은의]|대로[의에]|건[의에]"
_DEPENDENT_NOUN = re.compile(
    rf" (?<=[{ADNOMINAL}] )(?!{_OTHER_WORDS})(?!(?:듯|만)[하한할함합해했싶])"
    r"(?=것|(?:뿐|만큼|무렵|따름)(?![가-힣]{3})|터(?:이[다니며]|인데|입니|라)|테(?:니|다)|셈[이치]|"
    rf"(?:수|거|건|걸|게|줄|리|지|데|바|채|대로|듯|동안|적|나름|김에|만|놈){ENDS_WORD})"
    r"|(?<=[가-힣]) (?=때문)"
)


def dependent_noun_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """의존 명사 joined to what is before it: 할 수 -> 할수, 아는 것 -> 아는것, 떠난 지 -> 떠난지 (제42항)."""
    join_at(_DEPENDENT_NOUN, draft, rng, rate, "dependent_noun_joined")


_HA = "(?:하[다는고여기지면게려였시며도니나]|한다|한[ .,!?]|할[ .,!?]|함[ .,]|합니|했|해[서야도요 .,!?]|해$)"
_DOE = "[되된될됨됩돼됐]"
_AFTER_ENDING = re.compile(
    r" (?:(?<=고 )(?=[있싶]|계[시신실셨십]|나[서면니]|말았)"
    rf"|(?<=려고 )(?={_HA})"
    r"|(?<=지 )(?=않|못[하한할함합해했]|마세|마십|마라|말[고아라자]|말아)"
    rf"|(?<=게 )(?={_DOE}|{_HA})"
    rf"|(?<=야 )(?={_DOE}|{_HA})"
    rf"|(?<=도 )(?={_DOE})"
    rf"|(?<=면 )(?={_DOE})"
    r"|(?<=[는은인던한된]가 )(?=보다|봅|봐|보[네지])|(?<=[하되있없]나 )(?=보다|봅|봐|보[네지]))"
)


def auxiliary_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """보조 용언 joined where 제47항 does not permit it: 먹고 싶다 -> 먹고싶다, 하지 않다 -> 하지않다.

    제47항 permits joining after -아/-어 (먹어 보다 / 먹어보다) and of 듯하다, 만하다 and the like after
    관형사형; these are no mistakes and left alone. It does not after -고, -지, -게, -(아/어)야, -려고, -나,
    -ㄴ가. Strictly, 되다 after -도 and -면 is no auxiliary: joining it violates 제2항.
    """
    join_at(_AFTER_ENDING, draft, rng, rate, "auxiliary_joined")


_NEGATION = re.compile(r"(?<![가-힣])[안못] (?=[가-힣])(?!(?<=못 )[하한할함합해했])")


def negation_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """부사 안, 못 joined to the verb: 안 돼 -> 안돼, 못 가 -> 못가 (제2항); 못하다 is a word of its own."""
    join_at(_NEGATION, draft, rng, rate, "negation_joined")


NUMERAL = (
    "첫|한|두|세|네|석|넉|서너|두세|다섯|여섯|일곱|여덟|아홉|열|열한|열두|스무|서른|마흔|쉰"
    "|몇|몇몇|여러|수십|수백"
)
UNIT = (
    "개|개월|명|마리|권|장|대|병|잔|번|살|시간|달|주|채|벌|켤레|그루|가지|사람|송이|자루|곳|군데|차례|줄|쪽|편|통|판|쌍"
    "|그릇|접시|걸음|마디|조각|종류|배|점|칸|팀|집|주일|분|해|단계|자리|방울|묶음|세트"
)
_UNIT_NOUN = re.compile(
    rf"(?<![가-힣])(?!한 번|여러 분)(?:{NUMERAL}) (?=(?:{UNIT})(?:째|씩|쯤|당)?{ENDS_WORD})"
)


def unit_noun_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """단위 명사 joined to a numeral in Hangul: 두 개 -> 두개, 세 명 -> 세명 (제43항).

    Left alone: figures (3 개 / 3개) and an order or clock time, which 제43항 다만 permits to join; 한 번,
    since 한번 ("once, just") is a word too.
    """
    join_at(_UNIT_NOUN, draft, rng, rate, "unit_noun_joined")


_LISTING = re.compile(rf"(?<=[가-힣]) (?=(?:등|등등|겸){ENDS_WORD}|및 |내지 )|(?<= )(?:및|내지) (?=[가-힣])")


def listing_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """Words that link or list, joined to a neighbour: 책상 등 -> 책상등, 규칙 및 예 -> 규칙및 예 (제45항)."""
    join_at(_LISTING, draft, rng, rate, "listing_joined")


_TITLE = re.compile(
    rf"(?<=[가-힣]) (?=(?:씨|(?:박사|선생|교수)님?|(?:사장|과장|부장|팀장|대리)님|대통령|장관){ENDS_WORD})"
)


def title_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """호칭어, 관직명 joined to the name: 민수 씨 -> 민수씨, 김 선생님 -> 김선생님 (제48항)."""
    join_at(_TITLE, draft, rng, rate, "title_joined")


_WORD = re.compile("[가-힣]{2,}(?![A-Za-z0-9])")


def _split_words(
    start_of: Callable[[str], int], draft: Draft, rng: random.Random, rate: float, rule: str
) -> None:
    """Insert a space inside each word where ``start_of(word)`` finds a second part (0: it has none)."""
    if rate > 0:
        for match in _WORD.finditer(draft.text):
            start = start_of(match.group())
            if start and rng.random() < rate:
                insert_space(draft, rule, match.start() + start)


def particle_split(draft: Draft, rng: random.Random, rate: float) -> None:
    """조사, the copula 이다 among them, written apart: 학교에서 -> 학교 에서, 너만큼 -> 너 만큼 (제41항)."""
    _split_words(particle_start, draft, rng, rate, "particle_split")


def suffix_split(draft: Draft, rng: random.Random, rate: float) -> None:
    """접미사 -하다, -되다 and the like cut off: 공부합니다 -> 공부 합니다 (제2항)."""
    _split_words(suffix_start, draft, rng, rate, "suffix_split")


def drop_all_spaces(draft: Draft, rng: random.Random, rate: float) -> None:
    """With probability ``rate`` every space goes, permitted or not (제2항); one edit for each."""
    if rng.random() < rate:
        for position, character in enumerate(draft.text):
            if character == " ":
                _drop(draft, "drop_all_spaces", position)


SpacingRule = Callable[[Draft, random.Random, float], None]

SPACING_RULES: dict[str, SpacingRule] = {
    "dependent_noun_joined": dependent_noun_joined,
    "auxiliary_joined": auxiliary_joined,
    "negation_joined": negation_joined,
    "unit_noun_joined": unit_noun_joined,
    "listing_joined": listing_joined,
    "title_joined": title_joined,
    "particle_split": particle_split,
    "suffix_split": suffix_split,
    "space_dropped": space_dropped,
    "space_inserted": space_inserted,
}

# Factors of the rate that ``misspace`` is called with. They were chosen, not counted: mistakes that people do make are
# made often. The two rules that act anywhere come last, so that a place that fits a named rule gets that rule's name.
WEIGHTS = {
    "dependent_noun_joined": 3.0,
    "auxiliary_joined": 3.0,
    "negation_joined": 3.0,
    "unit_noun_joined": 3.0,
    "listing_joined": 2.0,
    "title_joined": 3.0,
    "particle_split": 0.5,
    "suffix_split": 1.0,
    "space_dropped": 1.0,
    "space_inserted": 0.15,
}


def misspace_once(draft: Draft, rng: random.Random, rules: Mapping[str, SpacingRule] = SPACING_RULES) -> None:
    """One space wrong in a text whose other spaces may all be right, by any of the rules that finds a place for it.

    Of the rules that find one, each is as likely as the next, however many places it finds.
    """
    names = list(rules)
    rng.shuffle(names)
    for name in names:
        tried = Draft(draft.text)
        rules[name](tried, rng, 1.0)
        if tried.edits:
            misspace_at(draft, rng.choice(tried.edits))
            return


def misspace_at(draft: Draft, edit: Edit) -> None:
    """Make one mistake that a rule made in another draft of the same text."""
    if draft.text[edit.start] == " ":
        _drop(draft, edit.rule, edit.start)
    else:
        insert_space(draft, edit.rule, edit.start + 1)


def misspace(draft: Draft, rng: random.Random, rate: float) -> None:
    """Run all of ``SPACING_RULES``, each at ``rate`` times its weight (1 at most).

    ``rate`` 0.15 makes about two mistakes in a sentence of 40 characters.
    """
    for name, rule in SPACING_RULES.items():
        rule(draft, rng, min(1.0, rate * WEIGHTS[name]))
