"""Drills: training pairs for rare spelling mistakes, and for single spacing mistakes.

In running text a few mistakes can be made everywhere and most nowhere: half of the table's rows find no place
in 40,000 sentences. A network has to learn these words by heart, so it meets them again and again, in short
phrases that cost little time (``Drill``, ``SpaceDrill``).

The most frequent mistake of all is one misplaced space in a sentence that is otherwise right
(``LoneSpaces``). ``spacing`` makes several at once, and a network that mostly sees them together doubts a
single one. A kind of place is a function from a right text to the indices of its places: of a space that is
obligatory (한글 맞춤법 제2항, 제42항), or of a syllable before which none may come. Where the norm leaves the
choice no place is listed: before an auxiliary verb (제47항) and between nouns (제49항, 제50항). Rare kinds
come as often as frequent ones.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from model.norm.kinds import Misspelling
from training.noise.draft import Draft, Edit
from training.noise.native import MistakeSite, native_sites, table
from training.noise.spacing import COMMON_RULES, SPACING_RULES, SpacingRule, misspace_at
from training.noise.word_parts import particle_start

RARE = 0.001  # a mistake for which fewer sentences have room is rare: chance alone will not teach it
MOST_PLACES = 64  # places that are remembered for one mistake
MOST_WORDS_BESIDE = 3  # on each side of the mistake's own words
# cuts, until a phrase still has room for the mistake: '에' is mistaken before ' 대해', not before ' 집'
ATTEMPTS = 8
RULE_SHARE = 0.3  # of the phrases are for a rule, the others for a row of the table
# Without its sentence, an adverb in -히 taught a network that any word in -이 should: 강당이 → 강당히.
UNDRILLED = frozenset({"hi_i"})
# Spacing mistakes of which the word before says more than the word after: 안 가, 그 사람, 두 개.
_BY_WORD_BEFORE = frozenset({"negation_joined", "determiner_joined", "unit_noun_joined"})


class Drill:
    """Phrases from some right sentences; from the table itself for rows that have room in no sentence."""

    def __init__(self, sentences: Iterable[str]):
        self.places: dict[str | Misspelling, list[tuple[str, MistakeSite]]] = {}
        counts: Counter[str | Misspelling] = Counter()
        total = 0
        for total, text in enumerate(sentences, 1):
            sites = {site.mistake: site for site in native_sites(text)}
            counts.update(sites.keys())
            for mistake, site in sites.items():
                places = self.places.setdefault(mistake, [])
                if len(places) < MOST_PLACES:
                    places.append((text, site))
        self.common = frozenset(mistake for mistake, count in counts.items() if count >= RARE * total)
        self.rules = [mistake for mistake in self.places if isinstance(mistake, str)]
        self.rows = [row for row in table() if row.name not in UNDRILLED]
        self.some_words = [text.split(" ") for places in self.places.values() for text, _ in places[:2]]

    def phrase(self, rng: random.Random) -> str:
        """A few right words in which a native mistake can be made."""
        by_rule = self.rules and rng.random() < RULE_SHARE
        mistakes: Sequence[str | Misspelling] = self.rules if by_rule else self.rows
        mistake = rng.choice(mistakes)
        # The name of a rule is no text. It is never shown, because a rule always has places.
        right = mistake if isinstance(mistake, str) else mistake.right
        places = self.places.get(mistake)
        for _ in range(ATTEMPTS):
            phrase = _around(*rng.choice(places), rng) if places else self._beside(right, rng)
            if any(site.mistake == mistake for site in native_sites(phrase)):
                return phrase
        return rng.choice(places)[0] if places else right

    def _beside(self, right: str, rng: random.Random) -> str:
        words = rng.choice(self.some_words or [[]])
        start = rng.randrange(len(words) + 1)
        few = words[start : start + rng.randint(0, MOST_WORDS_BESIDE)]
        phrase = right.strip()
        return " ".join([*few, phrase] if rng.random() < 0.5 else [phrase, *few])


class SpaceDrill:
    """Phrases of some right sentences with one frequent spacing mistake each.

    Each rule comes equally often, and so does each word of a rule: 것 and 수 occur in every other sentence,
    텐데 and 자마자 in one of a thousand, but people get all of them wrong.
    """

    def __init__(self, sentences: Iterable[str]):
        places: dict[str, defaultdict[str, list[tuple[str, Edit]]]]
        places = {name: defaultdict(list) for name in COMMON_RULES}
        for text in sentences:
            for word, edit in _misplaced(text):
                same = places[edit.rule][word]
                if len(same) < MOST_PLACES:
                    same.append((text, edit))
        self.places = {name: dict(words) for name, words in places.items() if words}

    def pair(self, rng: random.Random) -> tuple[str, str] | None:
        """(wrong, right); None where no sentence has room for a mistake."""
        if not self.places:
            return None
        words = self.places[rng.choice(list(self.places))]
        text, edit = rng.choice(words[rng.choice(list(words))])
        right = _around(text, MistakeSite(edit.rule, edit.start, edit.end), rng)
        mistakes = [each for _, each in _misplaced(right) if each.rule == edit.rule]
        if not mistakes:  # cut off, the words are no place for it
            right, mistakes = text, [edit]
        draft, place = Draft(right), rng.choice(mistakes)
        misspace_at(draft, place)
        return draft.wrong, right


def _misplaced(text: str) -> Iterator[tuple[str, Edit]]:
    """Every common spacing mistake that could be made in a correct text, with the word that it is made of."""
    for rule in COMMON_RULES.values():
        draft = Draft(text)
        rule(draft, random.Random(0), 1.0)
        for edit in draft.edits:
            before, after = text[: edit.start + 1].split(" "), text[edit.start + 1 :].split(" ")
            # The mistake depends on the word before of 안 가 and 두 개, on the word after of 할 것 and 학교
            # 에서.
            word = before[-2] + " " if edit.rule in _BY_WORD_BEFORE else ""
            yield word + after[0][:2], edit


def _around(text: str, site: MistakeSite, rng: random.Random) -> str:
    words = text.split(" ")
    first = text.count(" ", 0, site.start) - rng.randint(0, MOST_WORDS_BESIDE)
    last = text.count(" ", 0, site.end) + rng.randint(0, MOST_WORDS_BESIDE)
    return " ".join(words[max(0, first) : last + 1])


SpacePlaces = Callable[[str], list[int]]

_WORD = re.compile("(?<![가-힣])[가-힣]+(?= [가-힣])")
# The particle at the end of a word gives the kind of the space behind it.
_BY_PARTICLE = {
    "object": ("을", "를"),
    "subject": ("이", "가", "께서"),
    "topic": ("은", "는", "도"),
    "place": ("에", "에서", "에게", "한테", "께", "에는", "에서는"),
    "manner": ("으로", "로", "처럼", "보다", "만큼", "부터", "까지", "와", "과"),
    "genitive": ("의",),
}
_PARTICLE_OF = {form: kind for kind, forms in _BY_PARTICLE.items() for form in forms}


def _after_particle(kind: str) -> SpacePlaces:
    def places(text: str) -> list[int]:
        found = []
        for match in _WORD.finditer(text):
            word = match.group()
            start = particle_start(word)
            # 우리가 and 친구를, but no word of which one syllable would be left: it may be another word.
            if start > 1 and _PARTICLE_OF.get(word[start:]) == kind:
                found.append(match.end())
        return found

    return places


def _at(pattern: str) -> SpacePlaces:
    compiled = re.compile(pattern)

    def places(text: str) -> list[int]:
        return [
            match.end() - 1 if match.group().endswith(" ") else match.end()
            for match in compiled.finditer(text)
        ]

    return places


_ENDS = r"(?![가-힣])"
_PARTICLE = rf"(?:에서?[는도의]?|으?로|[을를은는이가의도]|까지|부터|만|쪽[에을이으])?{_ENDS}"
_GOES = (
    "(?:[가갔간갈갑감왔온옵와]|오[는고면세시너려]|나[가갔오왔온]|들[르렀]|다니|다녀|다녔|떠나|떠났|내려|올라)"
)
_ADVERBS = (
    "꼭 빨리 많이 너무 정말 진짜 아주 매우 가장 다시 자주 항상 이미 아직 먼저 조금 천천히 열심히 별로 "
    "계속 특히 반드시 갑자기 점점 거의 매일 훨씬 "
    "굉장히 도대체 절대 왜 어떻게 벌써 아마 꽤 더욱 널리 일찍 늦게 여전히 결코 전혀 그냥 오래 함께 "
    "같이 직접 바로 아까 늘 푹 싹 쭉 언제나 가끔 "
    "그래서 그런데 그리고 하지만 그러나 그러면 그럼 또는 혹은 즉 만약 비록 만일 그러니까 왜냐하면 따라서"
).replace(" ", "|")
# Verbs that make one word with these: 다시없다, 함께하다, 바로잡다, 오래되다, 곧바로, 더욱더.
_NO_VERB = "(?!(?:더|는|도|씩|간|만|전|없[는이]|잡[고은을아았는]|[하한할함합해했되된될됨됩돼됐])|하지만|나가)"
_OBJECTS = "|".join(
    f"(?:{nouns}) (?={verb})"
    for nouns, verb in (
        ("밥|빵|고기|점심|저녁|아침|라면|간식|과일|약|술", "먹[고는을었으어자지기던]"),
        ("책|신문|소설|글", "읽[고는을었으어자지기던]"),
        ("영화|드라마|텔레비전|뉴스|책|사진", "(?:보[고는러면자지기던]|봤|볼 |본 )"),
        ("음악|노래|라디오|수업|강의", "(?:듣[고는자지기던]|들[었으을어])"),
        ("커피|물|술|우유|주스", "마[시셨신실셔십]"),
        ("버스|택시|지하철|기차|자전거|비행기", "(?:타[고러면는자지기]|탔)"),
        ("옷|신발|가방|선물|빵|책", "(?:사[고러면자지기]|샀)"),
        ("손|얼굴|머리|발|이", "(?:씻[고는었으어자지기]|감[고는았으자])"),
        ("문|창문|뚜껑", "(?:열[고었어면]|닫[고았아으])"),
        ("집|학교|병원|회사|도서관|시장|은행", "(?:가[고는서면자지기]|갔|갈 |간 |왔|오[는고면])"),
        ("관심|시간|인기|관련|필요", "[없있][는다어었을습고지네]"),
    )
)

DROPPED: dict[str, SpacePlaces] = {
    **{f"{kind}_joined": _after_particle(kind) for kind in _BY_PARTICLE},
    # 책상 위, 건물 안: of two syllables or more, since 물속 and 눈앞 are words, as 마음속 is.
    "position_joined": _at(
        rf"(?<![가-힣])(?!마음|가슴|바다|머리)[가-힣]{{2,}}(?<![은는을를의에도로와과]) (?=(?:위|안|밖|"
        rf"앞|뒤|옆|속|밑|아래|근처|사이|주변){_PARTICLE})(?!밖에 (?:없|안|못))"
    ),
    "purpose_joined": _at(
        rf"(?<![가-힣])(?!여러|일부러|더러|이르러|"
        rf"푸르러)[가-힣]+(?:(?<=[으하보사타시우나놀팔주자쉬르기풀치리])러) (?={_GOES})"
    ),
    "adverb_joined": _at(rf"(?<![가-힣])(?:{_ADVERBS}) (?=[가-힣]){_NO_VERB}"),
    "bare_object_joined": _at(rf"(?<![가-힣])(?:{_OBJECTS})"),
    "modifier_joined": _at(
        r"(?<![가-힣])[가-힣]+(?:(?<=[하되있없오가보사주지치리기시])는|했던|하던|있던|되던|"
        r"(?<=[같높많깊짧작])은) (?=[가-힣]{2})"
        "(?!데|지|걸|게|바|대로|[듯만척체양뻔법][하한할함합해했싶이])"
    ),
    "clause_joined": _at(
        r"(?<![가-힣])[가-힣]+(?:지만|는데|은데|으면|하면|되면|니까|면서|도록|거나|더니|다가|자마자|"
        r"해서|아서|려고) (?=[가-힣])(?![하한할함합해했되된될됩돼됐보봐봤])"
    ),
    "numeral_joined": _at(
        r"(?<![가-힣])(?:첫|두|세|네|몇|다섯|여섯|일곱|여덟|아홉|열) (?=번째|달[ 에이을]|시간|가지|"
        r"사람|마리|군데)"
    ),
}

_ENDING = "(?:[다고는며면기니]|도록|ㄴ)"
INSERTED: dict[str, SpacePlaces] = {
    # -아/어지다 and -아/어하다 are always joined (제47항 해설), but not 싶어 하다 or 먹고 싶어 하다.
    "become_split": _at(
        rf"(?<![가-힣])(?!아버|어머|할머)[가-힣]*[아어여해려켜워와](?<!떨어)(?=(?:지{_ENDING}|졌|진다|"
        rf"집니다))"
    ),
    "feeling_split": _at(
        "(?<![가-힣])(?:좋아|싫어|무서워|슬퍼|기뻐|힘들어|어려워|귀찮아|궁금해|부러워|미워|그리워|"
        "즐거워|고마워|두려워|아까워)(?=하[다고는며지면기]|한다|합니|했|해[요서]|할 )"
    ),
    "plural_split": _at(
        rf"(?<![가-힣])(?:사람|학생|친구|아이|선생님|국민|여자|남자|시민|회원|아저씨|어른|주민|가족|"
        rf"동물|나무|직원|손님|부모|선수|기자|위원|그|우리|저희|너희)(?=들(?:이|은|을|의|에게|과|도)?{_ENDS})"
    ),
    "measure_split": _at(rf"(?<=[개번명살일달년시원분])(?=(?:씩|쯤|짜리|째){_ENDS}|씩[ ,.])"),
    "one_word_split": _at(
        rf"(?<![가-힣])(?:(?:이|그|저)(?=(?:것|때|곳)(?:[은을도에이의]|까지|부터|만|에서|"
        rf"에는)?{_ENDS})|아무(?=것도)|지난(?=[주달]{_ENDS}|[주달][에의])|오랫(?=동안)"
        r"|우리(?=나라)|또(?=다시)|곧(?=바로)|온(?=종일)|마음(?=속)|[물땅산꿈](?=속에)|머릿(?=속)|"
        r"눈(?=앞에)|창(?=밖)|옛(?=날)|새(?=해)|첫(?=사랑|눈)|마찬(?=가지)|띄어(?=쓰기)|어느(?=새)|한(?=동안))"
    ),
    "negative_split": _at(
        r"(?<=[가-힣]지 )못(?=[하한할함합해했])|(?<![가-힣])안(?=타깝|쓰럽)"
        r"|(?<![가-힣])(?:잘|못)(?=생[겼긴])|(?<![가-힣])못(?=지않)"
    ),
    "final_split": _at(
        "(?<=[있없했겠았었였됐갔왔])(?=습니[다까])|(?<=[가-힣]{2})(?=네요|군요|잖아|거든|더라|세요|십시오)"
    ),
}


MOST_TEXTS = 1000  # texts that are remembered for one kind
# Without space_dropped, which does not know where a space is free without Kiwi.
_RULES = {name: rule for name, rule in {**SPACING_RULES, **COMMON_RULES}.items() if name != "space_dropped"}


def _by_rule(rule: SpacingRule) -> SpacePlaces:
    """Where a rule of ``spacing`` or ``common_spacing`` would act."""

    def places(text: str) -> list[int]:
        draft = Draft(text)
        rule(draft, random.Random(0), 1.0)
        return [edit.start if text[edit.start] == " " else edit.start + 1 for edit in draft.edits]

    return places


KINDS: dict[str, SpacePlaces] = {
    **{name: _by_rule(rule) for name, rule in _RULES.items()},
    **DROPPED,
    **INSERTED,
}


def lone_spaces(text: str, kind: str) -> list[int]:
    """The places of a kind at which one space may go wrong.

    >>> lone_spaces("책상 위에 둬", "position_joined")
    [2]
    """
    return [place for place in KINDS[kind](text) if 0 < place < len(text) - 1]


def _misspaced(text: str, place: int) -> str:
    return text[:place] + (text[place + 1 :] if text[place] == " " else " " + text[place:])


class LoneSpaces:
    """Pairs with one space left out or put in, each kind as often as the next: 만나러 왔다 occurs in one
    sentence of 600.

    >>> LoneSpaces(["책상 위에 둬"]).pair(random.Random(0))
    ('책상위에 둬', '책상 위에 둬')
    """

    def __init__(self, sentences: Iterable[str]):
        self.texts: dict[str, list[str]] = {}
        for text in sentences:
            for kind in KINDS:
                texts = self.texts.setdefault(kind, [])
                if len(texts) < MOST_TEXTS and lone_spaces(text, kind):
                    texts.append(text)
        self.texts = {kind: texts for kind, texts in self.texts.items() if texts}

    def pair(self, rng: random.Random) -> tuple[str, str] | None:
        """(wrong, right); None where no sentence has a place."""
        if not self.texts:
            return None
        kind = rng.choice(list(self.texts))
        text = rng.choice(self.texts[kind])
        return _misspaced(text, rng.choice(lone_spaces(text, kind))), text


@cache
def look_alikes() -> tuple[str, ...]:
    """Right sentences whose spaces look wrong, and such as differ from another right one by a space alone."""
    return tuple(files("training.noise").joinpath("look_alikes.txt").read_text("utf-8").splitlines())


def look_alike(rng: random.Random) -> str:
    """One of them: 어제 산 책을 읽었다 must not become 산책을."""
    return rng.choice(look_alikes())
