"""Training pairs of the spelling norm: every article, counterexamples, held-out words."""

import itertools
import random
import re
import tomllib
from importlib.resources import files

import pytest

from model.norm import article_of
from model.norm.kinds import kinds
from model.text.changes import find_changes
from training.noise.native import table
from training.noise.norm import norm_counterexample, norm_in, norm_pair, practices, slots

MANY = 6000
NORMS = {"한글 맞춤법": 57, "표준어 규정": 26}


@pytest.fixture(scope="module")
def practised():
    rng = random.Random(1)
    return [norm_pair(rng) for _ in range(MANY)]


def test_every_article_has_a_kind_or_a_reason():
    left_out = tomllib.loads(files("model.norm").joinpath("left_out.toml").read_text("utf-8"))
    covered = {" ".join(kind.article.split(" ")[:3]) for kind in kinds().values()}
    every = {f"{norm} 제{number}항" for norm, last in NORMS.items() for number in range(1, last + 1)}
    assert every - covered == set(left_out) - covered
    assert not covered & set(left_out)


def test_pairs_differ_and_name_their_article(practised):
    for pair in practised:
        assert pair.wrong != pair.right
        assert kinds()[pair.name].article == pair.article


def test_every_kind_with_words_or_sentences_is_met(practised):
    met = {pair.name for pair in practised}
    assert {each.kind.name for each in practices(False) if each.entries or each.sentences} <= met


def test_an_open_class_comes_more_often_than_a_closed_one(practised):
    names = [pair.name for pair in practised]
    assert names.count("dependent_noun") > 4 * names.count("one_form")


def test_counterexamples_are_right_on_both_sides():
    rng = random.Random(2)
    for pair in (norm_counterexample(rng, held_out) for held_out in (False, True) for _ in range(1000)):
        assert pair.wrong == pair.right != ""


def test_at_least_a_fifth_of_the_words_of_each_kind_is_held_out():
    for kind in kinds().values():
        for word_class, group in itertools.groupby(kind.entries, key=lambda entry: entry.word_class):
            entries = list(group)
            if len(entries) >= 4:
                assert sum(each.held_out for each in entries) >= len(entries) / 5, (kind.name, word_class)


def test_held_out_mistakes_never_come_in_practice(practised):
    held_out = {
        (entry.right, wrong) for each in practices(True) for entry in each.entries for wrong in entry.wrong
    }
    practice = {
        (entry.right, wrong) for each in practices(False) for entry in each.entries for wrong in entry.wrong
    }
    assert not held_out & practice
    sentences = {each.text for one in practices(True) for each in one.sentences}
    assert not sentences & {each.text for one in practices(False) for each in one.sentences}
    for name, words in slots(True).items():
        assert not set(words) & set(slots(False)[name]) or set(words) == set(slots(False)[name])


def test_a_word_held_out_is_not_misspelt_by_a_rule_either():
    (practice,) = [each for each in practices(True) if each.kind.name == "yul_ryul"]
    nouns = [entry for entry in practice.entries if entry.word_class == "nouns"]
    assert nouns and all(norm_in(entry.right, random.Random(0)) is None for entry in nouns)


def test_pairs_are_explained_by_their_own_article_or_not_at_all(practised):
    """Where the app names an article for a practised pair, it is one that speaks of this change."""
    told = wrong = 0
    for pair in practised[: MANY // 3]:
        changes = find_changes(pair.wrong, pair.right)
        if len(changes) != 1:
            continue
        change = changes[0]
        found = article_of(
            change.wrong, change.right, pair.right[: change.target_start], pair.right[change.target_end :]
        )
        told += found is not None
        wrong += found is not None and found.article != pair.article
    assert told > 0.2 * MANY
    assert wrong < 0.06 * told  # two articles speak of some words: 나무꾼 is in 제30항 and 제54항


def test_no_template_has_an_open_slot_or_particle(practised):
    for pair in practised:
        assert not re.search(r"[<>\[\]{}|@*]", pair.wrong + pair.right), pair


def test_few_words_held_out_are_in_the_older_table():
    """Where a kind has words that the older table does not practise, those are held out."""
    known = {(row.right, row.wrong) for row in table()}
    held_out = [entry for each in practices(True) for entry in each.entries if not entry.is_predicate]
    practised = [entry for entry in held_out if any((entry.right, wrong) in known for wrong in entry.wrong)]
    assert len(practised) < 0.1 * len(held_out)
