"""``Change``: differences of two texts as spans; found, selected, applied, by word."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from os.path import commonprefix

from rapidfuzz.distance import Levenshtein

LEAST_OFFERED = 0.3  # the confidence from which a change that was not made is offered


@dataclass(frozen=True)
class Change:
    """One place where the correction differs: ``source[source_start:source_end] == wrong`` and
    ``target[target_start:target_end] == right``. Either may be empty (an insertion, a deletion).

    A network's change carries two probabilities, both given the source and the target before the change.
    ``fix_probability`` is that of writing the change (the product over its tokens; for a deletion, that of
    the token that follows). ``keep_probability`` is that of writing the next character of the source instead,
    so of leaving the text alone. Both come from one pass over the text with all proposed changes, and stay
    the same when some of these are left undone. Between two texts without a network both are None.

    ``known_confidence`` is the judgement of ``model.correction.confidence``, where the model's folder has its
    files. With it a change may be proposed that is not the network's own choice. Then ``instead_of`` is the
    network's own text for it.

    ``from_list``: the norm's list of misspellings made it where the network, which was asked for its
    probabilities, would have left the text as typed.

    ``is_english_layout``: ``wrong`` is Latin letters whose keys write ``right`` (``model.text.keyboard``). No
    network judged it, so it has no confidence, and it is made only where a person accepts it.

    >>> Change(0, 2, 0, 2, "머거", "먹어", fix_probability=0.9, keep_probability=0.0).confidence
    0.9
    """

    source_start: int
    source_end: int
    target_start: int
    target_end: int
    wrong: str
    right: str
    fix_probability: float | None = field(default=None, compare=False)
    keep_probability: float | None = field(default=None, compare=False)
    known_confidence: float | None = field(default=None, compare=False)
    instead_of: str | None = field(default=None, compare=False)
    is_english_layout: bool = field(default=False, compare=False)
    from_list: bool = field(default=False, compare=False)
    asked: int = field(default=0, compare=False)  # number of the one of ``questions`` that analyses answer

    @property
    def moves_spaces(self) -> bool:
        """Whether nothing but white space differs.

        >>> Change(1, 1, 1, 2, "", " ").moves_spaces
        True
        """
        return not self.wrong.strip() and not self.right.strip()

    @property
    def questions(self) -> tuple[tuple[int, int], ...]:
        """(place in ``wrong``, place in ``right``) of each character that can be asked about.

        The default question comes first, the others in the order of the text.

        >>> Change(1, 2, 1, 3, "되", " 돼").questions, Change(0, 2, 0, 2, "머거", "먹어").questions
        (((0, 1), (0, 0)), ((0, 0), (1, 1)))
        """
        blocks = [each for each in Levenshtein.opcodes(self.wrong, self.right) if each.tag != "equal"]
        places = (
            (block.src_start + i, block.dest_start + (i if block.tag == "replace" else 0))
            for block in blocks
            for i in range(block.src_end - block.src_start if block.tag == "replace" else 1)
        )
        differ = ((i, j) for i, j in places if self.wrong[i : i + 1] != self.right[j : j + 1])
        return tuple(dict.fromkeys([self._first_mistake, *differ]))

    @property
    def mistake(self) -> tuple[int, int]:
        """The one of ``questions`` that analyses answer."""
        questions = self.questions if self.asked else ()
        return questions[self.asked] if self.asked < len(questions) else self._first_mistake

    @property
    def _first_mistake(self) -> tuple[int, int]:
        """(place in ``wrong``, place in ``right``) of the first character that carries the mistake: a space
        only where nothing else differs. The default question about a change is about this character.

        >>> Change(1, 2, 1, 3, "되", " 돼").mistake, Change(1, 1, 1, 2, "", " ").mistake
        ((0, 1), (0, 0))
        """
        wrong, right = self.wrong, self.right
        i = j = 0
        while i < len(wrong) and j < len(right):
            if wrong[i] == right[j]:
                i, j = i + 1, j + 1
            elif right[j].isspace():
                j += 1
            elif wrong[i].isspace():
                i += 1
            else:
                return i, j
        return (i, j) if (wrong[i:] + right[j:]).strip() else (0, 0)

    @property
    def is_weighed(self) -> bool:
        """Whether it has a ``confidence``.

        A user's own model may change a text without saying how sure it is.
        """
        return self.known_confidence is not None or None not in (self.fix_probability, self.keep_probability)

    @property
    def is_offered(self) -> bool:
        """Whether it is offered to a person where it was not made: one without a confidence always is.

        >>> [replace(Change(0, 1, 0, 1, "a", "b"), known_confidence=p).is_offered for p in (0.2, 0.3, None)]
        [False, True, True]
        """
        return not self.is_weighed or self.confidence >= LEAST_OFFERED

    @property
    def confidence(self) -> float:
        """How sure it is that this change should be made, in 0..1: ``known_confidence``, and
        otherwise ``network_confidence``.

        Raises ValueError for a change without probabilities.
        """
        return self.network_confidence if self.known_confidence is None else self.known_confidence

    @property
    def network_confidence(self) -> float:
        """How sure the network is by itself, ``fix_probability * (1 - keep_probability)``: that it writes
        this change, and that it would not keep the source.

        Raises ValueError for a change without probabilities.
        """
        if self.fix_probability is None or self.keep_probability is None:
            raise ValueError(f"no network made the change of {self.place}, so it has no confidence")
        return self.fix_probability * (1.0 - self.keep_probability)

    @property
    def place(self) -> str:
        """The offsets in words.

        Error messages name a change by them and not by its text, because messages may reach a log.
        """
        source, target = (self.source_start, self.source_end), (self.target_start, self.target_end)
        return "source[{}:{}] to target[{}:{}]".format(*source, *target)

    def moved(self, source: int, target: int) -> "Change":
        """The same change with its offsets shifted by these numbers of characters.

        >>> Change(0, 1, 0, 1, "갓", "갔").moved(3, 4).place
        'source[3:4] to target[4:5]'
        """
        if not (source or target):
            return self
        return replace(
            self,
            source_start=self.source_start + source,
            source_end=self.source_end + source,
            target_start=self.target_start + target,
            target_end=self.target_end + target,
        )


def find_changes(source: str, target: str) -> tuple[Change, ...]:
    """The places where two texts differ.

    Neighbouring changes are parted by at least one character that both texts share.

    First the texts without white space are aligned with the fewest edits (Levenshtein 1966), then the texts
    between the aligned characters is compared. So a space that moved is one change. If the texts were aligned
    with their spaces, the letter beside the space might be deleted in one place and inserted in another;
    undoing one of these two changes would lose the letter.

    >>> [(change.wrong, change.right) for change in find_changes("밥을 머거요", "밥을 먹어요")]
    [('머거', '먹어')]
    """
    if source == target:
        return ()
    changes: list[Change] = []
    for before, after in pairwise(_common(source, target)):
        (start, end), (target_start, target_end) = ((a + 1, b) for a, b in zip(before, after, strict=True))
        if source[start:end] != target[target_start:target_end]:
            changes += _differences(source, target, (start, end), (target_start, target_end))
    return tuple(changes)


def find_rewriting(source: str, target: str) -> tuple[Change, ...]:
    """``find_changes`` of a correction.

    If less than half of the longer text stays, as in a translation, the whole text is one change, because
    such texts share characters only by chance.

    >>> find_rewriting("손님이 왔다.", "A guest came.")[0].right
    'A guest came.'
    """
    if source and target and Levenshtein.normalized_similarity(source, target) < 0.5:
        return (Change(0, len(source), 0, len(target), source, target),)
    return find_changes(source, target)


def _common(source: str, target: str) -> Iterator[tuple[int, int]]:
    """(position in source, position in target) of aligned characters that are no white space; at the end both
    lengths.

    Of the beginning that both texts share only the last character is given, (-1, -1) if they share none.
    """
    same = len(commonprefix((source, target)))
    while same and source[same - 1].isspace():
        same -= 1
    yield same - 1, same - 1
    in_source, in_target = (
        [i for i in range(same, len(text)) if not text[i].isspace()] for text in (source, target)
    )
    blocks = Levenshtein.opcodes([source[i] for i in in_source], [target[i] for i in in_target])
    for block in blocks:
        if block.tag == "equal":
            spans = range(block.src_start, block.src_end), range(block.dest_start, block.dest_end)
            yield from ((in_source[i], in_target[k]) for i, k in zip(*spans, strict=True))
    yield len(source), len(target)


def _differences(source: str, target: str, span: tuple[int, int], other: tuple[int, int]) -> Iterator[Change]:
    """The differences of ``source[span]`` and ``target[other]``, neighbouring edits joined."""
    blocks = Levenshtein.opcodes(source[slice(*span)], target[slice(*other)])
    for same, group in groupby(blocks, key=lambda block: block.tag == "equal"):
        if not same:
            *_, last = edits = list(group)
            start, end = span[0] + edits[0].src_start, span[0] + last.src_end
            begin, stop = other[0] + edits[0].dest_start, other[0] + last.dest_end
            yield Change(start, end, begin, stop, source[start:end], target[begin:stop])


def apply_changes(source: str, changes: Iterable[Change]) -> str:
    """The text that results from making only these changes, which are given in the order of the text.

    >>> apply_changes("밥을 머거요", find_changes("밥을 머거요", "밥을 먹어요"))
    '밥을 먹어요'
    """
    parts, done = [], 0
    for change in changes:
        parts += [source[done : change.source_start], change.right]
        done = change.source_end
    return "".join([*parts, source[done:]])


def by_word(source: str, changes: Sequence[Change]) -> list[tuple[int, int, list[int]]]:
    """(start, end, the numbers of its changes) of each word that changes touch; words that share one are one.

    >>> by_word("할수박에 업다", find_changes("할수박에 업다", "할 수밖에 없다"))
    [(0, 4, [0, 1]), (5, 7, [2])]
    """
    found: list[tuple[int, int, list[int]]] = []
    for number, change in enumerate(changes):
        start, end = change.source_start, change.source_end
        while start > 0 and not source[start - 1].isspace():
            start -= 1
        while end < len(source) and not source[end].isspace():
            end += 1
        if found and start < found[-1][1]:
            first, last, inside = found.pop()
            found.append((first, max(last, end), [*inside, number]))
        else:
            found.append((start, end, [number]))
    return found


def select_changes(changes: Iterable[Change], accepts: Callable[[Change], bool]) -> tuple[Change, ...]:
    """The changes for which ``accepts`` is true, with their offsets in the text where only these are made.

    >>> changes = find_changes("머거요 조아", "먹어요 좋아")
    >>> [each.right for each in select_changes(changes, lambda each: each.right == "좋아")]
    []
    """
    selected, drift = [], 0  # drift: how much longer the changes left out so far would have made the text
    for change in changes:
        if accepts(change):
            selected.append(change.moved(0, -drift))
        else:
            drift += len(change.right) - len(change.wrong)
    return tuple(selected)


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes of one source, sorted, with their offsets in the text where all of them are made.

    >>> [each.target_start for each in in_order(find_changes("머거요 조아", "먹어요 좋아")[::-1])]
    [0, 4]
    """
    placed, drift = [], 0
    for change in sorted(changes, key=lambda change: (change.source_start, change.source_end)):
        start = change.source_start + drift
        placed.append(replace(change, target_start=start, target_end=start + len(change.right)))
        drift += len(change.right) - len(change.wrong)
    return tuple(placed)
