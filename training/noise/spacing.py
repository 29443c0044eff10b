"""Error rules of spacing: spaces dropped or inserted where the norm does not allow it.

The norm is 한글 맞춤법 제2항, 제41항–제50항.

Each rule is ``rule(draft, rng, rate)``: every place where it can act fires with probability ``rate``. Places
are those of the correct text, so changes of other families around them do not matter. A rule touches only the
space: a dropped one leaves the cell ``""``, an inserted one is the end of the cell before it. Words are
recognised by their spelling alone, without a dictionary of parts of speech, so the name of a rule can be
wrong where two words look alike. The result is still a mistake, although the joined form may be right
elsewhere: 먹는 데 becomes 먹는데.

Where the standard allows both spellings (제43항 다만, 제46항, 제47항 and 제50항) nothing is done, because the
model would learn to "correct" right texts. Only a writer who leaves out every space leaves out these, too. By
제50항 the words of a technical term may be joined (대기 오염, 대기오염), and no dictionary lists all such
terms: Kiwi tells which words are nouns (``free_spaces``). A space stays obligatory beside a noun of time,
place, measure or person (오늘일출, 도로주변, 엄마친구), beside a name (제48항, 제49항), and beside a noun of
one syllable (책값, 시험때), because those are often half of another word.

``COMMON_RULES`` are the most frequent mistakes (늘어난것, 공부 하기), made in sentences of every family. A
network that meets such a mistake only together with other misplaced spaces takes a single one for intended,
and leaves it.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise

from model.correction.morphemes import cut
from model.text.hangul import is_syllable, syllables_with_coda
from training.noise.draft import Draft, Edit
from training.noise.word_parts import PARTICLES, particle_start, suffix_start

_TIME = (
    "오늘|내일|모레|글피|어제|그제|지금|이제|요즘|요새|최근|당시|평소|아침|점심|저녁|새벽|오전|오후|"
    "주말|평일|매일|매주|매달|매년|하루|이틀|사흘|나흘"
    "|지난주|지난달|지난해|작년|올해|내년|[월화수목금토일]요일|이번|다음|저번|처음|마지막|나중|먼저|"
    "도중|무렵|이전|이후|이래|동안|당일|항상|언제|결국|원래"
)
_PLACE = (
    "사이|가운데|근처|주변|내부|외부|아래|왼쪽|오른쪽|[앞뒤옆안위]쪽|바깥|바깥쪽|아래쪽|여기|거기|저기|"
    "어디|이쪽|그쪽|저쪽"
)
_MEASURE = (
    "이상|이하|이내|이외|정도|전후|하나|모두|전부|전체|일부|대부분|나머지|기타|경우|관련|때문|각자|"
    "각각|서로|혼자|스스로|필요|최대|최소|약간|조금|특정|주요|기존|자체|만약"
)
_PERSON = (
    "자신|자기|우리|저희|너희|누구|엄마|아빠|아버지|어머니|할머니|할아버지|동생|누나|언니|오빠|친구|"
    "아들|남편|아내|선생님|사람|여자|남자|아이"
)
_APART = re.compile(f"(?:{_TIME}|{_PLACE}|{_MEASURE}|{_PERSON}|[가-힣]+님)들?")
_OF_NOUNS = {"NNG", "XPN", "XSN"}  # a common noun, and the affixes before and after its stem
_AFTER_NOUNS = ("J", "VCP", "S")  # a particle, the copula, a sign

TaggedSpan = tuple[str, int, int]  # tag, start, end


@lru_cache(maxsize=64)  # several rules need one sentence, and drawn again where they did nothing
def free_spaces(text: str) -> frozenset[int]:
    """The indices in ``text`` of the spaces between two nouns that may be joined."""
    words = _words(cut(text))
    return frozenset(
        before[-1][2]
        for before, after in pairwise(words)
        if text[before[-1][2] : after[0][1]] == " "
        and _joins_what_follows(text, before)
        and _joins_what_precedes(text, after)
    )


def _words(morphemes: Sequence[TaggedSpan]) -> list[list[TaggedSpan]]:
    """The morphemes of each word: those with nothing between them."""
    words: list[list[TaggedSpan]] = []
    for morpheme in morphemes:
        if words and words[-1][-1][2] >= morpheme[1]:
            words[-1].append(morpheme)
        else:
            words.append([morpheme])
    return words


def _joins_what_follows(text: str, word: Sequence[TaggedSpan]) -> bool:
    """Whether the word consists of nouns only, and its last one may be joined to another."""
    tags = {tag for tag, _, _ in word}
    if tags - _OF_NOUNS or tags == {"XSN"}:  # the latter: 들 alone
        return False
    last = max(index for index, (tag, _, _) in enumerate(word) if tag != "XSN")  # 개발|자
    return _is_joinable(text, word[last][1], word[-1][2])


def _joins_what_precedes(text: str, word: Sequence[TaggedSpan]) -> bool:
    """Whether the word begins with a noun that may be joined to another and that no verb is made of
    (준비하다).
    """
    nouns = 0
    while nouns < len(word) and word[nouns][0] in _OF_NOUNS:
        nouns += 1
    if not nouns or (nouns < len(word) and not word[nouns][0].startswith(_AFTER_NOUNS)):
        return False
    end = word[0][2]
    if nouns > 1 and (word[0][0] == "XPN" or word[1][0] == "XSN"):
        end = word[1][2]
    return _is_joinable(text, word[0][1], end)


def _is_joinable(text: str, start: int, end: int) -> bool:
    return end - start >= 2 and not _APART.fullmatch(text, start, end)


FAMILY = "spacing"


RIEUL = syllables_with_coda("ㄹ")
ADNOMINAL = syllables_with_coda("ㄴ", "ㄹ")  # last syllables of 관형사형: -는, -(으)ㄴ, -던, -(으)ㄹ
ENDS_WORD = rf"(?=(?:{'|'.join(sorted(PARTICLES, key=len, reverse=True))})?(?![가-힣]))"

# 제47항: after -아/-어 an auxiliary may be joined, and so may 듯하다 and the like after 관형사형.
_CONNECTIVE = re.compile(
    r"(?:[어아여해려져워줘봐내켜겨쳐러써퍼배깨떼베라돼춰둬세]|[어아나]가|[나어아]와|"
    r"(?<![가-힣])[가와사자나타서])$"
)
_AUXILIARY = re.compile(
    "[보봐봤볼본봅봄주줘줬줄준줍줌버가갔갈간갑감오와왔올온옵나났난날내냈낸낼냅놓놨두둬뒀둔둘둡대댔있계치빠]|드[리려렸릴린립림]"
)
_JOINABLE_NOUN = re.compile("(?:듯|만|법|척|체|뻔|양)(?=[하한할함합해했])|듯싶|성싶")
# 제43항 다만: counting units after figures and in an order (삼 학년, 이십 분) may be joined.
_NUMBER = re.compile("(?<![가-힣])[일이삼사오육칠팔구십백천만]+$")
_COUNTED = re.compile("[년월일시분초층급호과차권번장절]|학년")


def _either_way(before: str, after: str) -> bool:
    """Whether ``before`` and ``after`` (a sentence cut at a boundary) may be written either apart or
    joined.
    """
    if before[-1].isdigit():
        return True
    return bool(
        (_AUXILIARY.match(after) and _CONNECTIVE.search(before))
        or (before[-1] in ADNOMINAL and _JOINABLE_NOUN.match(after))
        or (_COUNTED.match(after) and _NUMBER.search(before))
        or (before.endswith("좀") and after.startswith("더"))  # 제46항
        or (before.endswith("못") and after[0] in "하한할함합해했")  # 못하다 is a word
    )


def _is_free(draft: Draft, position: int) -> bool:
    """Whether no spacing rule has acted at ``position`` yet."""
    return not any(edit.family == FAMILY and edit.start <= position < edit.end for edit in draft.edits)


def _drop(draft: Draft, rule: str, position: int) -> None:
    if draft.cells[position] == " ":
        draft.put(rule, FAMILY, position, [""])


def _insert_space(draft: Draft, rule: str, position: int) -> None:
    """Put a space before ``text[position]``, if both sides still have their letters and no space is
    there.
    """
    before, after = draft.cells[position - 1], draft.cells[position]
    if before and after and before[-1] != " " and after[0] != " " and _is_free(draft, position - 1):
        draft.put(rule, FAMILY, position - 1, [before + " "])


def _join_at(pattern: re.Pattern[str], rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    """Drop the space with which each match of ``pattern`` ends."""
    if rate > 0:
        for match in pattern.finditer(draft.text):
            if rng.random() < rate:
                _drop(draft, rule, match.end() - 1)


# Hangul is on one side at least, and no dash or other sign, beside which a space is a matter of taste.
_SPACE = re.compile(r" (?:(?<=[가-힣] )(?=[\w(\"'“‘])|(?<=[\w.,!?…:;)\"'”’] )(?=[가-힣]))")


def space_dropped(draft: Draft, rng: random.Random, rate: float) -> None:
    """Any space left out, except where the standard allows that: 집에 갔다 -> 집에갔다 (제2항).

    >>> draft = Draft("집에 갔다")
    >>> space_dropped(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '집에갔다'
    """
    text = draft.text
    chosen = [match.start() for match in _SPACE.finditer(text) if rng.random() < rate]
    chosen = [position for position in chosen if not _either_way(text[:position], text[position + 1 :])]
    if chosen:
        free = free_spaces(text)
        for position in chosen:
            if position not in free:
                _drop(draft, "space_dropped", position)


def _space_inserted(draft: Draft, rng: random.Random, rate: float) -> None:
    """A space between two Hangul syllables of one word: 사람이 -> 사 람이 (제2항)."""
    text = draft.text
    for position in range(1, len(text)):
        inside = is_syllable(text[position - 1]) and is_syllable(text[position])
        if inside and rng.random() < rate and not _either_way(text[:position], text[position:]):
            _insert_space(draft, "space_inserted", position)


# Common words begin with some of these nouns, too (수, 거, 지 …), so the word must end after them.
# _OTHER_WORDS are words that look like such a noun with a particle.
_OTHER_WORDS = "거의|바로|수[의로에까]|지[의로도]|적[은의]|대로[의에]|건[의에]"
_DEPENDENT_NOUN = re.compile(
    rf" (?<=[{ADNOMINAL}] )(?!{_OTHER_WORDS})(?!(?:듯|만)[하한할함합해했싶])"
    r"(?=것|(?:뿐|만큼|무렵|따름)(?![가-힣]{3})|터(?:이[다니며]|인데|입니|라)|테(?:니|다)|셈[이치]|"
    rf"(?:수|거|건|걸|게|줄|리|지|데|바|채|대로|듯|동안|적|나름|김에|만|놈){ENDS_WORD})"
    r"|(?<=[가-힣]) (?=때문)"
)


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


_NEGATION = re.compile(r"(?<![가-힣])[안못] (?=[가-힣])(?!(?<=못 )[하한할함합해했])")


NUMERAL = (
    "첫|한|두|세|네|석|넉|서너|두세|다섯|여섯|일곱|여덟|아홉|열|열한|열두|스무|서른|마흔|쉰"
    "|몇|몇몇|여러|수십|수백"
)
UNIT = (
    "개|개월|명|마리|권|장|대|병|잔|번|살|시간|달|주|채|벌|켤레|그루|가지|사람|송이|자루|곳|군데|차례|"
    "줄|쪽|편|통|판|쌍"
    "|그릇|접시|걸음|마디|조각|종류|배|점|칸|팀|집|주일|분|해|단계|자리|방울|묶음|세트"
)
_UNIT_NOUN = re.compile(
    rf"(?<![가-힣])(?!한 번|여러 분)(?:{NUMERAL}) (?=(?:{UNIT})(?:째|씩|쯤|당)?{ENDS_WORD})"
)


_LISTING = re.compile(rf"(?<=[가-힣]) (?=(?:등|등등|겸){ENDS_WORD}|및 |내지 )|(?<= )(?:및|내지) (?=[가-힣])")


_TITLE = re.compile(
    rf"(?<=[가-힣]) (?=(?:씨|(?:박사|선생|교수)님?|(?:사장|과장|부장|팀장|대리)님|대통령|장관){ENDS_WORD})"
)


_WORD = re.compile("[가-힣]{2,}(?![A-Za-z0-9])")


def _split_words(
    start_of: Callable[[str], int], rule: str, draft: Draft, rng: random.Random, rate: float
) -> None:
    """Insert a space inside each word where ``start_of(word)`` finds a second part (0: it has none)."""
    if rate > 0:
        for match in _WORD.finditer(draft.text):
            start = start_of(match.group())
            if start and rng.random() < rate:
                _insert_space(draft, rule, match.start() + start)


def drop_all_spaces(draft: Draft, rng: random.Random, rate: float) -> None:
    """With probability ``rate`` every space goes, permitted or not (제2항); one edit for each.

    >>> draft = Draft("나는 집에 갔다")
    >>> drop_all_spaces(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '나는집에갔다'
    """
    if rng.random() < rate:
        for position, character in enumerate(draft.text):
            if character == " ":
                _drop(draft, "drop_all_spaces", position)


_AFTER_ANY = "때|후|뒤|전|동안|중|정도|이후|이전|당시|대신|덕분"
_AFTER_ADNOMINAL = "곳|분|날|일|말|경우|순간|사이|이유|사람|느낌|텐데|모습"
# Joined to these they make another word, which is right: 그때, 한동안, 부재중, 지난날, 큰일, 볼일.
_NOT_ANY = r"(?<![그이저한제첫] )(?<!오랫 )(?<!부재 )(?<!은연 )"
_NOT_ADNOMINAL = r"(?<![한큰볼첫빈잔먼온별] )(?<!지난 )(?<!작은 )(?<!젊은 )"
_NOUN = re.compile(
    rf"(?<=[가-힣]) {_NOT_ANY}(?=(?:{_AFTER_ANY}){ENDS_WORD})"
    rf"|(?<=[{ADNOMINAL}]) {_NOT_ADNOMINAL}(?=(?:{_AFTER_ADNOMINAL}){ENDS_WORD})"
)


# 그때, 이것, 저쪽 and the like are words.
_DETERMINER = re.compile(
    r"(?<!\S)(?:[그이저] (?=[가-힣]{2})"
    r"(?!(?:[때날곳분것거게건걸쪽중전간해달외밖놈년]|동안|다음|대로|만큼|이상|이하|이후|이전)[가-힣]{0,"
    r"2}(?![가-힣]))"
    r"|(?!여러 분)(?:[이그저]런|어떤|모든|다른|여러|무슨|어느) (?=[가-힣])"
    r"|아무 (?=[데때말일]|생각|문제|이유|소리|도움|걱정|대답|의미))"
)


_GUESS = re.compile(r"(?<=[가-힣][까나]) (?=봐|봅|보[다네지])")


_ENDING = re.compile(
    rf"(?<=[가-힣]자)(?=마자)|(?<=[{RIEUL}])(?=수록)"
    rf"|(?<=[{ADNOMINAL}])(?=지[도는를]? ?(?:모르|몰|알[고려 아]|궁금|확인|물어|여부))"
)


# Verbs of two verbs that are one word (표준국어대사전): 돌아오다, 데려가다, 쳐다보다, 받아들이다,
# 깨어나다.
_COMPOUND = re.compile(
    r"(?<![가-힣])(?:(?:돌아|들어|올라|내려|다녀|데려|가져|건너|지나|따라|달려|뛰어|걸어|날아|찾아|"
    r"쫓아|끌어|빠져|몰려|흘러|넘어)"
    r"(?=[오와왔온올옵가갔간갈갑])|(?:바라|쳐다|돌아|지켜|살펴|둘러|들여다)(?=[보봐봤본볼봅])"
    r"|(?:일어|깨어|태어|벗어|늘어|살아|뛰어|생겨)(?=[나났난날납])|도와(?=[주줘줬준줄드])|"
    r"받아(?=들[이여였인일])"
    r"|집어(?=넣)|알아(?=듣|들[어었으]|채|챘|차[리려렸]|맞[히혀])|[잃잊]어(?=버)|갈아(?=[타탔입])|물어(?=뜯))"
)


def _split(pattern: re.Pattern[str], rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    """Insert a space behind each match."""
    for match in pattern.finditer(draft.text):
        if rng.random() < rate:
            _insert_space(draft, rule, match.end())


_RARE = frozenset(["listing_joined", "title_joined"])
_COMMON_ALONE = frozenset(
    ["free_noun_joined", "determiner_joined", "guess_joined", "ending_split", "compound_split"]
)

SpacingRule = Callable[[Draft, random.Random, float], None]

_JOINS: dict[str, SpacingRule] = {
    # 의존 명사 joined to the word before it: 할 수 -> 할수, 아는 것 -> 아는것, 떠난 지 -> 떠난지 (제42항).
    "dependent_noun_joined": partial(_join_at, _DEPENDENT_NOUN, "dependent_noun_joined"),
    # 보조 용언 joined where 제47항 does not permit it: 먹고 싶다 -> 먹고싶다, 하지 않다 -> 하지않다. 제47항
    # permits joining after -아/-어 (먹어 보다 / 먹어보다) and of 듯하다, 만하다 and the like after 관형사형;
    # these are no mistakes and left alone. It does not after -고, -지, -게, -(아/어)야, -려고, -나, -ㄴ가.
    # Strictly, 되다 after -도 and -면 is no auxiliary: joining it violates 제2항.
    "auxiliary_joined": partial(_join_at, _AFTER_ENDING, "auxiliary_joined"),
    # 부사 안, 못 joined to the verb: 안 돼 -> 안돼, 못 가 -> 못가 (제2항); 못하다 is a word.
    "negation_joined": partial(_join_at, _NEGATION, "negation_joined"),
    # 단위 명사 joined to a numeral in Hangul: 두 개 -> 두개, 세 명 -> 세명 (제43항). Left alone: figures (3
    # 개 / 3개) and an order or clock time, which 제43항 다만 permits to join; 한 번, since 한번 ("once,
    # just") is a word too.
    "unit_noun_joined": partial(_join_at, _UNIT_NOUN, "unit_noun_joined"),
    # Words that link or list, joined to a neighbour: 책상 등 -> 책상등, 규칙 및 예 -> 규칙및 예 (제45항).
    "listing_joined": partial(_join_at, _LISTING, "listing_joined"),
    # 호칭어, 관직명 joined to the name: 민수 씨 -> 민수씨, 김 선생님 -> 김선생님 (제48항).
    "title_joined": partial(_join_at, _TITLE, "title_joined"),
    # A noun joined to its modifier: 먹은 후 -> 먹은후, 방학 때 -> 방학때, 아는 사람 -> 아는사람 (제2항).
    "free_noun_joined": partial(_join_at, _NOUN, "free_noun_joined"),
    # A determiner (관형사), or an adjective that is used like one, joined to its noun: 그 사람 -> 그사람,
    # 여러 가지 -> 여러가지 (제2항).
    "determiner_joined": partial(_join_at, _DETERMINER, "determiner_joined"),
    # 보다 joined in a supposition: 비가 오나 봐 -> 비가 오나봐, 늦을까 봐 -> 늦을까봐 (제47항).
    "guess_joined": partial(_join_at, _GUESS, "guess_joined"),
}
_SPLITS: dict[str, SpacingRule] = {
    # 조사, the copula 이다 among them, written apart: 학교에서 -> 학교 에서, 너만큼 -> 너 만큼 (제41항).
    "particle_split": partial(_split_words, particle_start, "particle_split"),
    # 접미사 -하다, -되다 and the like cut off: 공부합니다 -> 공부 합니다 (제2항).
    "suffix_split": partial(_split_words, suffix_start, "suffix_split"),
    # An ending cut in two, as if a noun stood in it: 가자마자 -> 가자 마자, 갈수록 -> 갈 수록, 갈지 -> 갈 지
    # (제2항).
    "ending_split": partial(_split, _ENDING, "ending_split"),
    # A verb of two verbs cut in two: 돌아왔다 -> 돌아 왔다, 쳐다보다 -> 쳐다 보다 (제2항).
    "compound_split": partial(_split, _COMPOUND, "compound_split"),
}

SPACING_RULES: dict[str, SpacingRule] = {
    **{name: rule for name, rule in _JOINS.items() if name not in _COMMON_ALONE},
    **{name: rule for name, rule in _SPLITS.items() if name not in _COMMON_ALONE},
    "space_dropped": space_dropped,
    "space_inserted": _space_inserted,
}
COMMON_RULES = {name: rule for name, rule in (_JOINS | _SPLITS).items() if name not in _RARE}

# Factors of the rate that ``misspace`` is called with. They were chosen, not counted: mistakes that people do
# make are made often. The two rules that act anywhere come last, so that a place that fits a named rule gets
# that rule's name.
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
    """One space wrong in a text whose other spaces may all be right, by any of the rules that finds a place
    for it.

    Of the rules that find one, each is as likely as the next, however many places it finds.

    >>> draft = Draft("할 수 있다")
    >>> misspace_once(draft, random.Random(0))
    >>> draft.wrong
    '할수 있다'
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
        _insert_space(draft, edit.rule, edit.start + 1)


def misspace(draft: Draft, rng: random.Random, rate: float) -> None:
    """Run all of ``SPACING_RULES``, each at ``rate`` times its weight (1 at most).

    ``rate`` 0.15 makes about two mistakes in a sentence of 40 characters.

    >>> draft = Draft("할 수 있는 것을 하자")
    >>> misspace(draft, random.Random(0), 0.5)
    >>> draft.wrong
    '할수 있는것을 하자'
    """
    for name, rule in SPACING_RULES.items():
        rule(draft, rng, min(1.0, rate * WEIGHTS[name]))


SPLIT_RATE = 0.15  # times that of the others: every word has room for these


def misspace_commonly(draft: Draft, rng: random.Random, rate: float) -> None:
    """Make each of these mistakes with probability ``rate``, those that split a word less often.

    >>> draft = Draft("먹은 후에 갈 때까지")
    >>> misspace_commonly(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '먹은후에 갈때까지'
    """
    for name, rule in COMMON_RULES.items():
        rule(draft, rng, SPLIT_RATE * rate if name in _SPLITS else rate)
