"""The frequent mistakes of native writers: a table of words and phrases, and rules for words with too many
forms for a table.

A mistake replaces right letters of a ``Draft``. The table, ``native.toml``, holds the closed cases
(며칠/몇일) in the format of ``model/norm/kinds.py``; a rule below covers an open class (돼/되 before any
ending) by one regular expression. Sources: 한글 맞춤법, 표준어 규정, 외래어 표기법 and 표준국어대사전
(국립국어원), cited in the table and in the docstring of each rule.
"""

import functools
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from model.norm.kinds import Misspelling, RowIndex, read_kinds, rows_of
from model.text.hangul import FINALS, compose, decompose, syllables_with_coda
from training.noise.draft import Draft, changed_cells

FAMILY = "native"

SyllableCells = str | tuple[str, ...]  # the cell for each matched character
Spelling = Callable[[str], Sequence[SyllableCells]]  # matched text -> the ways it is misspelt
NativeRule = Callable[[Draft, random.Random, float], None]


@functools.cache
def table() -> tuple[Misspelling, ...]:
    """All rows of ``native.toml``, read once."""
    return rows_of(read_kinds([Path(__file__).with_name("native.toml")]))


@functools.cache
def _table_index() -> RowIndex:
    return RowIndex(table())


def write_table_mistakes(draft: Draft, rng: random.Random, rate: float) -> None:
    """Mistakes of the table; where several rows occur at one place, one is drawn.

    Sources: its rows.

    >>> draft = Draft("며칠 뒤에 봅시다.")
    >>> write_table_mistakes(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '몇일 뒤에 봅시다.'
    """
    for start, rows in _table_index().sites(draft.text):
        row = rng.choice(rows)
        if rng.random() < rate * WEIGHTS.get(row.name, 1.0):
            offset, cells = changed_cells(row.right, row.wrong)
            _put(draft, row.name, start + offset, cells)


def _put(draft: Draft, name: str, start: int, cells: list[str]) -> None:
    """Write a mistake, unless another one is there already."""
    if not draft.touched(start, start + len(cells)):
        draft.put(name, FAMILY, start, cells)


# Sites of these occur in every other sentence; at full rate they would crowd out all the others.
WEIGHTS = {
    "ss_kk": 0.2,
    "past_ss": 0.25,
    "doe_to_dwae": 0.5,
    "seumnida": 0.4,
    "e_to_ui": 0.5,
    "loan": 0.5,
    "chat_ending": 0.1,
    "an_joined": 0.5,
    "su_joined": 0.3,
    "geot_joined": 0.5,
    "sip_joined": 0.5,
    "noun_joined": 0.5,
    "particle_apart": 0.2,
}

NATIVE_RULES: dict[str, NativeRule] = {"native_table": write_table_mistakes}
_PATTERNS: dict[str, re.Pattern[str]] = {}


def _rule(pattern: str) -> Callable[[Spelling], NativeRule]:
    """Make a rule of a function from matched text to its wrong spellings, one cell a character."""
    compiled = re.compile(pattern)

    def decorate(spell: Spelling) -> NativeRule:
        name = spell.__name__.removeprefix("_")
        _PATTERNS[name] = compiled

        def rule(draft: Draft, rng: random.Random, rate: float) -> None:
            for match in compiled.finditer(draft.text):
                if rng.random() < rate:
                    _put(draft, name, match.start(), list(rng.choice(spell(match[0]))))

        rule.__name__, rule.__doc__ = name, spell.__doc__
        NATIVE_RULES[name] = rule
        return rule

    return decorate


def _coda(*finals: str) -> str:
    """A character class of all syllables with one of these codas."""
    return f"[{syllables_with_coda(*finals)}]"


def _with_coda(syllable: str, final: str) -> str:
    initial, medial, _ = decompose(syllable)
    return compose(initial, medial, final)


def _other(character: str, rights: str, wrongs: str) -> str:
    """The character of ``wrongs`` at the place of ``character`` in ``rights``."""
    return wrongs[rights.index(character)]


OPEN, CLOSED, VOWEL_OR_N = _coda(""), _coda(*FINALS[1:]), _coda("", "ㄴ")
RIEUL_OR_N, RIEUL, SS, SS_PS = _coda("ㄴ", "ㄹ"), _coda("ㄹ"), _coda("ㅆ"), _coda("ㅆ", "ㅄ")
WORD_END = r"(?![0-9A-Za-z가-힣])"
SENTENCE_END = r"(?=요?\s*(?:[.!?~…,]|$))"


@_rule(
    r"되(?=[고는면지다기며자던든네나느거겠도려므길게니죠잖더])"
    rf"|[된됨](?={WORD_END}|[다지])|될(?={WORD_END}|까|지|수)|됩(?=니)"
)
def _doe_to_dwae(old: str) -> list[str]:
    """되고 → 돼고: '돼' is short for '되어', which no other ending contains (한글 맞춤법 제35항 붙임 2)."""
    return [_other(old, "되된됨될됩", "돼됀됌됄됍")]


@_rule(r"돼(?!지)|[됐봬뵀]")  # 돼지 is the pig
def _dwae_to_doe(old: str) -> list[str]:
    """돼요 → 되요, 됐다 → 됬다, 봬요 → 뵈요 (한글 맞춤법 제35항 붙임 2)."""
    return [_other(old, "돼됐봬뵀", "되됬뵈뵜")]


@_rule(r"되어(?=[서야요])|되었")
def _doeeo(old: str) -> list[str]:
    """되어서 → 되여서, 되었다 → 되였다 (한글 맞춤법 제35항 붙임 2).

    되서 and 됬다 are made of 돼서 and 됐다 alone: a network that learns both origins is sure of neither.
    """
    return ["되였" if old == "되었" else "되여"]


@_rule(r"(?:(?<=[지질진] )|(?<=지[는도가를만] ))않(?=[고는은을아았습으던겠게지기도네나거더다니자])")
def _anh_to_an(old: str) -> list[str]:
    """하지 않고 → 하지 안고: after '-지' comes '않-', short for '아니하-' (한글 맞춤법 제39항)."""
    return ["안"]


@_rule(r"(?<![가-힣])(?<!(?<![가-힣])[그이저집방차속] )안 (?=[가-힣])")
def _an_to_anh(old: str) -> list[SyllableCells]:
    """안 해요 → 않 해요, 않해요: before a verb comes the adverb '안' (표준국어대사전 '안', '않다')."""
    return ["않 ", ("않", "")]


@_rule(rf"(?<={RIEUL})[게걸]{SENTENCE_END}")
def _promise_ge(old: str) -> list[str]:
    """할게요 → 할께요, 할걸 → 할껄: endings with 'ㄹ' are written plain (한글 맞춤법 제53항)."""
    return [_other(old, "게걸", "께껄")]


@_rule(rf"(?<={RIEUL}) (?:거(?=[예야다라니고지면]|요{WORD_END})|겁(?=니)|건(?=[데가지]))")
def _future_geo(old: str) -> list[SyllableCells]:
    """할 거야 → 할 꺼야, 할꺼야, 할거야: the noun '거' keeps its plain initial (표준국어대사전 '거',
    '것').
    """
    plain, tense = old[1], _other(old[1], "거겁건", "꺼껍껀")
    return [(" ", tense), ("", tense), ("", plain)]


@_rule(r"(?<![가-힣])안 (?=[가-힣])")
def _an_joined(old: str) -> list[SyllableCells]:
    """안 돼요 → 안돼요, 안 가 → 안가: the adverb '안' is written apart (한글 맞춤법 제2항)."""
    return [("안", "")]


@_rule(rf"(?<={RIEUL}) 수 (?=[있없])")
def _su_joined(old: str) -> list[SyllableCells]:
    """할 수 있다 → 할수있다, 할수 있다, 할 수있다 (한글 맞춤법 제42항)."""
    return [("", "수", ""), ("", "수", " "), (" ", "수", "")]


@_rule(rf"(?<={RIEUL_OR_N}) [것거] 같")
def _geot_joined(old: str) -> list[SyllableCells]:
    """갈 것 같다 → 갈것 같다, 갈 것같다, 갈것같다 (한글 맞춤법 제42항)."""
    return [("", old[1], " ", "같"), (" ", old[1], "", "같"), ("", old[1], "", "같")]


@_rule(r"고 싶")
def _sip_joined(old: str) -> list[SyllableCells]:
    """보고 싶다 → 보고싶다: only after '-아/-어' may an auxiliary be joined (한글 맞춤법 제47항)."""
    return [("고", "", "싶")]


@_rule(rf"(?<={RIEUL}) 때|(?<=는) 중(?=[이에입인])")
def _noun_joined(old: str) -> list[SyllableCells]:
    """갈 때 → 갈때, 가는 중이다 → 가는중이다: a noun after its modifier is written apart (한글 맞춤법 제2항)."""
    return [("", old[1])]


@_rule(
    r"(?<=[가-힣])(?:까지|부터|처럼|만큼|(?<![창문])밖에|조차|커녕|뿐|(?<![그이저제절반시도])대로)"
    rf"(?={WORD_END}|[은는도만이의]{WORD_END}|이[야다에]|입)"
)
def _particle_apart(old: str) -> list[SyllableCells]:
    """집까지 → 집 까지, 너만큼 → 너 만큼, 수밖에 → 수 밖에: a particle is joined (한글 맞춤법 제41항)."""
    return [(f" {old[0]}", *old[1:])]


@_rule(rf"(?<={RIEUL})까{SENTENCE_END}")
def _question_kka(old: str) -> list[str]:
    """할까요 → 할가요: questions with 'ㄹ' are written tense (한글 맞춤법 제53항 다만)."""
    return ["가"]


@_rule(rf"(?<={CLOSED})(?<![양린랑숭둥팽])이에요{WORD_END}")  # 고양이, 어린이 … end in 이
def _copula_ieyo(old: str) -> list[SyllableCells]:
    """책이에요 → 책이예요, 책에요: after a coda comes '이에요' (표준어 규정 제26항)."""
    return ["이예요", ("", "에", "요")]


@_rule(rf"(?<={OPEN})(?<![이니])예(?=요{WORD_END})")
def _copula_yeyo(old: str) -> list[str]:
    """저예요 → 저에요: after a vowel '이에요' shortens to '예요' (표준어 규정 제26항)."""
    return ["에"]


@_rule(rf"(?<={CLOSED})(?<![양린랑숭둥팽])이(?:었|어(?=[서야]))")
def _copula_past(old: str) -> list[str]:
    """책이었다 → 책이였다, 책이어서 → 책이여서: only a shortened '-이어' is '여' (한글 맞춤법 제36항)."""
    return ["이" + _other(old[1], "었어", "였여")]


@_rule(rf"(?<={SS_PS})(?:습(?=니[다까])|음(?={WORD_END}|[을이은에과도]))")
def _seumnida(old: str) -> list[str]:
    """있습니다 → 있읍니다, 있음 → 있슴 (표준어 규정 제17항)."""
    return [_other(old, "습음", "읍슴")]


@_rule(rf"(?<=[십하]시)오{WORD_END}")
def _sibsio(old: str) -> list[str]:
    """하십시오 → 하십시요: the closing '-오' is written '오' however it sounds (한글 맞춤법 제15항 붙임
    2).
    """
    return ["요"]


@_rule(rf"(?![있났뺐]){SS}(?=[가-힣])")  # 잇다, 낫다 and 뺏다 are other verbs
def _past_ss(old: str) -> list[str]:
    """했다 → 햇다, 하겠다 → 하겟다: '-았/었-' and '-겠-' end in ㅆ (한글 맞춤법 제16항, 제34항)."""
    return [_with_coda(old, "ㅅ")]


@_rule(rf"(?<={SS})던(?= [가-힣])")
def _past_deon(old: str) -> list[str]:
    """했던 일 → 했든 일: the past is '-던' (한글 맞춤법 제56항)."""
    return ["든"]


@_rule(rf"(?!(?<![가-힣])[고배우]려){OPEN}(?=려(?:고|면|는|던))")  # not the nouns 고려, 배려, 우려
def _intent_ryeogo(old: str) -> list[str]:
    """하려고 → 할려고, 먹으려면 → 먹을려면: the ending is '-려고' (표준국어대사전 '-려고', '-려면')."""
    return [_with_coda(old, "ㄹ")]


@_rule(rf"(?<={RIEUL})는(?=지(?:{WORD_END}|[도는요]))")
def _maybe_neunji(old: str) -> list[str]:
    """될는지 → 될런지: the ending is '-ㄹ는지' (표준국어대사전 '-ㄹ는지')."""
    return ["런"]


@_rule(rf"(?:(?<={OPEN}는)|(?<={SS}는))데(?=[요도]?{WORD_END})")
def _but_neunde(old: str) -> list[str]:
    """하는데 → 하는대: '-대' is hearsay and does not follow this '-는' (표준국어대사전 '-는데', '-대')."""
    return ["대"]


@_rule(rf"(?<=[온간준본잔연춘])대{SENTENCE_END}")
def _hearsay_dae(old: str) -> list[str]:
    """온대요 → 온데요: hearsay ends in '-ㄴ대', which is short for '-ㄴ다고 해' (표준국어대사전
    '-ㄴ대').

    Of 먹는대 and 예쁘대 are made 먹는데 and 예쁘데, which are right in another sense, so these are left.
    """
    return ["데"]


@_rule(rf"(?<=[있없하되가오보같좋많았었겠했됐왔갔났졌렸셨이운은맛쁘프르기크])네{SENTENCE_END}")
def _wonder_ne(old: str) -> list[str]:
    """있네요 → 있내요: the ending that shows surprise is '-네' (표준국어대사전 '-네')."""
    return ["내"]


@_rule(
    r"(?:(?<=\b[나너])|(?<=우리|당신|그녀|누구|자신|서로|사람|친구|엄마|아빠|남자|여자|인간))의(?= [가-힣])"
)
def _ui_to_e(old: str) -> list[str]:
    """나의 집 → 나에 집, only after persons, who would take 에게 (표준 발음법 제5항 다만 4: heard as [에])."""
    return ["에"]


@_rule(r"(?<=[가-힣])에(?= (?:대해|대한|의해|의한|따라|따르|따른|관한|관해|비해|[있없][는습다어었]))")
def _e_to_ui(old: str) -> list[str]:
    """집에 있다 → 집의 있다: before these words comes 에 (표준국어대사전 '에', '의')."""
    return ["의"]


@_rule(rf"(?<={VOWEL_OR_N})율|(?<={CLOSED})(?<!{VOWEL_OR_N})률")
def _yul_ryul(old: str) -> list[str]:
    """비율 → 비률, 성공률 → 성공율: 율 after a vowel or ㄴ, else 률 (한글 맞춤법 제11항 붙임 1)."""
    return [_other(old, "율률", "률율")]


@_rule(rf"(?<={_coda('ㅁ')}으로)써")
def _means_rosseo(old: str) -> list[str]:
    """함으로써 → 함으로서: means take '-(으)로써' (한글 맞춤법 제57항)."""
    return ["서"]


@_rule(rf"{OPEN}므(?=로{WORD_END})")
def _reason_meuro(old: str) -> list[str]:
    """하므로 → 함으로: a reason takes '-(으)므로' (한글 맞춤법 제57항)."""
    return [_with_coda(old[0], "ㅁ") + "으"]


@_rule(rf"(?<=[가-힣][다까마로려러거가벼])[워웠](?={WORD_END}|[가-힣])")
def _irregular_wo(old: str) -> list[str]:
    """고마워요 → 고마와요: only 돕- and 곱- take '와' (한글 맞춤법 제18항 6 다만)."""
    return [_other(old, "워웠", "와왔")]


def write_native_mistakes(draft: Draft, rng: random.Random, rate: float) -> None:
    """Every rule of ``NATIVE_RULES`` in order; a site fires with probability ``rate`` times its WEIGHTS.

    >>> draft = Draft("제가 할게요.")
    >>> write_native_mistakes(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '제가 할께요.'
    """
    for name, rule in NATIVE_RULES.items():
        rule(draft, rng, rate * WEIGHTS.get(name, 1.0))


class MistakeSite(NamedTuple):
    """Where in a correct sentence a native mistake could be made: by the rule of this name, or a row of the
    table.
    """

    mistake: str | Misspelling
    start: int
    end: int


def native_sites(text: str) -> Iterator[MistakeSite]:
    """All sites of native mistakes in a text: first those of the rules, then those of the table.

    >>> [(site.start, site.end) for site in native_sites("제가 할게요.")]
    [(4, 5)]
    """
    for name, pattern in _PATTERNS.items():
        yield from (MistakeSite(name, *match.span()) for match in pattern.finditer(text))
    for start, found in _table_index().sites(text):
        yield from (MistakeSite(row, start, start + len(row.right)) for row in found)


def has_native_site(text: str, but_for: Collection[str | Misspelling] = ()) -> bool:
    """Whether any native mistake could be made in this correct sentence, ``but_for`` these.

    >>> has_native_site("며칠"), has_native_site("하늘")
    (True, False)
    """
    return any(site.mistake not in but_for for site in native_sites(text))
