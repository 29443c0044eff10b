"""``python -m training sets``: development sets that each ask one question, made of sentences no training has seen.

everyday and general: the usual errors in how people talk, and in what newspapers and speeches write. rare: slips in a
sentence's rarest word, where that is rare in the training sentences. several: three or more slips in a sentence. spaces: one of the
commonest spacing mistakes in a sentence that is otherwise right. Each set is a CSV of
``src,tgt`` with as many sentences as asked for, and half as many again without an error.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from model.correction.words import find_words
from training.corpus.corpus import CorpusError, Sentence, read_sentences, write_pairs
from training.noise.draft import Aim, Draft, stem
from training.noise.pairs import MIX, Writer, make_pair
from training.noise.spacing import COMMON_RULES, misspace_once
from training.noise.typing_slips import slip

QUESTIONS = ("everyday", "general", "rare", "several", "spaces")  # the sets, each of one question
# Parts of the names of sources.
EVERYDAY = ("Chatbot", "3i4k", "r0cd7b", "dialogues", "paraKQC", "IWSLT")
GENERAL = (
    "wikinews",
    "KLUE",
    "UD_Korean",
    "sib-200",
    "XNLI",
    "unesco",
    "book_review",
    "president",
    "heritage",
)
RARE = 9  # a word that stands at most so often in the training sentences is rare
SEVERAL = 3  # slips at least
MOST_OF_ONE_SOURCE = 300  # sentences in a set, or the largest source would be the set
WITH_ERRORS = {family: share for family, share in MIX.items() if family != "clean"}

Rng = random.Random
MakeWrong = Callable[[str, Rng], str | None]  # None where a sentence does not suit the set


def usual_errors(text: str, rng: Rng) -> str:
    """Errors of the usual mix."""
    return make_pair(text, rng, writer=Writer(mix=WITH_ERRORS)).wrong


def several_slips(text: str, rng: Rng) -> str | None:
    """Three slips, or one in six syllables where that is more."""
    syllables = sum(len(word) for _, word in find_words(text))
    draft = Draft(text)
    enough = syllables >= 3 * SEVERAL
    return draft.wrong if enough and slip(draft, rng, max(SEVERAL, syllables // 6)) else None


def one_space(text: str, rng: Rng) -> str | None:
    """One of the commonest spacing mistakes, none of them likelier than the next, and nothing else."""
    draft = Draft(text)
    misspace_once(draft, rng, COMMON_RULES)
    return draft.wrong if draft.edits else None


def slips_in_rare_words(aim: Aim) -> MakeWrong:
    """One or two slips in the rarest word."""

    def make(text: str, rng: Rng) -> str | None:
        words = [(aim.count(word), start, word) for start, word in find_words(text) if len(stem(word)) > 1]
        count, start, word = min(words, default=(RARE + 1, 0, ""))
        if count > RARE:
            return None
        draft = Draft(text)
        # Not in its particle: 경제를 -> 경제륵 asks nothing about 경제.
        slip(draft, rng, 1 if len(stem(word)) < 4 else rng.choice((1, 2)), (start, start + len(stem(word))))
        return draft.wrong

    return make


def make_set(
    sentences: Iterable[Sentence], make_wrong: MakeWrong, count: int, seed: int
) -> list[tuple[str, str]]:
    """At most ``count`` (wrong, right) pairs, then half as many of other sentences that are right on both sides."""
    by_source = defaultdict(set)
    for sentence in sentences:
        by_source[sentence.source].add(sentence.text)
    rng = random.Random(seed)
    texts = []
    for source in sorted(by_source):
        own = sorted(by_source[source])
        texts += rng.sample(own, min(len(own), MOST_OF_ONE_SOURCE))
    texts = sorted(set(texts))
    rng.shuffle(texts)
    pairs: list[tuple[str, str]] = []
    used = 0
    for text in texts:
        if len(pairs) == count:
            break
        used += 1
        wrong = make_wrong(text, random.Random(f"{seed} {text}"))
        if wrong is not None and wrong != text:
            pairs.append((wrong, text))
    return pairs + [(text, text) for text in texts[used : used + count // 2]]


def make_sets(
    sentences: list[Sentence], known: Iterable[str], count: int, seed: int
) -> dict[str, list[tuple[str, str]]]:
    """The pairs of each set by its name; ``known`` are the sentences of training."""
    aim = Aim(known)

    def of(*names: str) -> list[Sentence]:
        return [each for each in sentences if any(name in each.source for name in names)]

    return {
        "everyday": make_set(of(*EVERYDAY), usual_errors, count, seed),
        "general": make_set(of(*GENERAL), usual_errors, count, seed),
        "rare": make_set(of(*EVERYDAY, *GENERAL), slips_in_rare_words(aim), count, seed),
        "several": make_set(of(*EVERYDAY, *GENERAL), several_slips, count, seed),
        "spaces": make_set(of(*EVERYDAY, *GENERAL), one_space, count, seed),
    }


@click.command("sets")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--known", multiple=True, required=True, type=click.Path(exists=True), help="Trained on.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Their folder.")
@click.option("--count", default=500, show_default=True, help="Sentences with an error in each set.")
@click.option("--seed", default=0, show_default=True)
def command(files, known, out, count, seed):
    """Make development sets of the sentences in FILES, which training must not have seen."""
    try:
        sentences = [row for path in files for row in read_sentences(path)]
        trained = [row.text for path in known for row in read_sentences(path)]
    except CorpusError as error:
        raise click.ClickException(str(error)) from error
    out.mkdir(parents=True, exist_ok=True)
    for name, pairs in make_sets(sentences, trained, count, seed).items():
        write_pairs(out / f"{name}.csv", pairs)
        wrong = sum(source != target for source, target in pairs)
        click.echo(f"{out / name}.csv: {wrong} sentences with an error, {len(pairs) - wrong} without")
