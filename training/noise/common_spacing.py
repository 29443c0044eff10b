"""The most frequent spacing mistakes, made in sentences of every family of errors.

People write 늘어난것 or 공부 하기 in sentences that are otherwise right, and beside mistakes of any other kind. A network that meets such
a mistake only together with other misplaced spaces takes a single one for intended, and leaves it.
"""

import random
import re

from training.noise.draft import Draft
from training.noise.spacing import (
    ADNOMINAL,
    ENDS_WORD,
    RIEUL,
    auxiliary_joined,
    dependent_noun_joined,
    insert_space,
    join_at,
    negation_joined,
    particle_split,
    suffix_split,
    unit_noun_joined,
)

_AFTER_ANY = "때|후|뒤|전|동안|중|정도|이후|이전|당시|대신|덕분"
_AFTER_ADNOMINAL = "곳|분|날|일|말|경우|순간|사이|이유|사람|느낌|텐데|모습"
# Joined to these they make another word, which is right: 그때, 한동안, 부재중, 지난날, 큰일, 볼일.
_NOT_ANY = r"(?<![그이저한제첫] )(?<!오랫 )(?<!부재 )(?<!은연 )"
_NOT_ADNOMINAL = r"(?<![한큰볼첫빈잔먼온별] )(?<!지난 )(?<!작은 )(?<!젊은 )"
_NOUN = re.compile(
    rf"(?<=[가-힣]) {_NOT_ANY}(?=(?:{_AFTER_ANY}){ENDS_WORD})"
    rf"|(?<=[{ADNOMINAL}]) {_NOT_ADNOMINAL}(?=(?:{_AFTER_ADNOMINAL}){ENDS_WORD})"
)


def free_noun_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """A noun joined to what says which one is meant: 먹은 후 -> 먹은후, 방학 때 -> 방학때, 아는 사람 -> 아는사람 (제2항)."""
    join_at(_NOUN, draft, rng, rate, "free_noun_joined")


# 그때, 이것, 저쪽 and the like are words of their own.
_DETERMINER = re.compile(
    r"(?<!\S)(?:[그이저] (?=[가-힣]{2})"
    r"(?!(?:[때날곳분것거게건걸쪽중전간해달외밖놈년]|동안|다음|대로|만큼|이상|이하|이후|이전)[가-힣]{0,2}(?![가-힣]))"
    r"|(?!여러 분)(?:[이그저]런|어떤|모든|다른|여러|무슨|어느) (?=[가-힣])"
    r"|아무 (?=[데때말일]|생각|문제|이유|소리|도움|걱정|대답|의미))"
)


def determiner_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """A determiner (관형사), or an adjective that is used like one, joined to its noun: 그 사람 -> 그사람, 여러 가지 -> 여러가지 (제2항)."""
    join_at(_DETERMINER, draft, rng, rate, "determiner_joined")


_GUESS = re.compile(r"(?<=[가-힣][까나]) (?=봐|봅|보[다네지])")


def guess_joined(draft: Draft, rng: random.Random, rate: float) -> None:
    """보다 joined where it says what one supposes: 비가 오나 봐 -> 비가 오나봐, 늦을까 봐 -> 늦을까봐 (제47항)."""
    join_at(_GUESS, draft, rng, rate, "guess_joined")


_ENDING = re.compile(
    rf"(?<=[가-힣]자)(?=마자)|(?<=[{RIEUL}])(?=수록)"
    rf"|(?<=[{ADNOMINAL}])(?=지[도는를]? ?(?:모르|몰|알[고려 아]|궁금|확인|물어|여부))"
)


def ending_split(draft: Draft, rng: random.Random, rate: float) -> None:
    """An ending cut in two, as if a noun stood in it: 가자마자 -> 가자 마자, 갈수록 -> 갈 수록, 갈지 -> 갈 지 (제2항)."""
    _split(_ENDING, draft, rng, rate, "ending_split")


# Verbs of two verbs, each a word of its own (표준국어대사전): 돌아오다, 데려가다, 쳐다보다, 받아들이다, 깨어나다.
_COMPOUND = re.compile(
    r"(?<![가-힣])(?:(?:돌아|들어|올라|내려|다녀|데려|가져|건너|지나|따라|달려|뛰어|걸어|날아|찾아|쫓아|끌어|빠져|몰려|흘러|넘어)"
    r"(?=[오와왔온올옵가갔간갈갑])|(?:바라|쳐다|돌아|지켜|살펴|둘러|들여다)(?=[보봐봤본볼봅])"
    r"|(?:일어|깨어|태어|벗어|늘어|살아|뛰어|생겨)(?=[나났난날납])|도와(?=[주줘줬준줄드])|받아(?=들[이여였인일])"
    r"|집어(?=넣)|알아(?=듣|들[어었으]|채|챘|차[리려렸]|맞[히혀])|[잃잊]어(?=버)|갈아(?=[타탔입])|물어(?=뜯))"
)


def compound_split(draft: Draft, rng: random.Random, rate: float) -> None:
    """A verb of two verbs cut in two: 돌아왔다 -> 돌아 왔다, 쳐다보다 -> 쳐다 보다 (제2항)."""
    _split(_COMPOUND, draft, rng, rate, "compound_split")


def _split(pattern: re.Pattern, draft: Draft, rng: random.Random, rate: float, rule: str) -> None:
    """Insert a space behind each match."""
    for match in pattern.finditer(draft.text):
        if rng.random() < rate:
            insert_space(draft, rule, match.end())


JOINED = (
    dependent_noun_joined,
    auxiliary_joined,
    negation_joined,
    unit_noun_joined,
    free_noun_joined,
    determiner_joined,
    guess_joined,
)
SPLIT = (particle_split, suffix_split, ending_split, compound_split)
COMMON_RULES = {rule.__name__: rule for rule in (*JOINED, *SPLIT)}
SPLIT_RATE = 0.15  # times that of the others: there is room for these in every word


def misspace_commonly(draft: Draft, rng: random.Random, rate: float) -> None:
    """Make each of these mistakes with probability ``rate``, those that split a word less often."""
    for rule in JOINED:
        rule(draft, rng, rate)
    for rule in SPLIT:
        rule(draft, rng, SPLIT_RATE * rate)
