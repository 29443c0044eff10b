"""Has a network read sentences: whole, or in parts if its answer lost an anchor (``model.text.anchors``)."""

from collections.abc import Callable
from typing import NamedTuple

from model.activations.drafting import Produced
from model.text.anchors import Passage, lost_anchors, passages_beside


class Answer(NamedTuple):
    """What the network wrote for one sentence, or for a part of a sentence that it read by itself."""

    part: Passage
    target: str
    produced: Produced  # the ids of ``target``, the end mark last, and the pass that wrote them

    @property
    def source(self) -> str:
        return self.part.text

    @property
    def is_torn(self) -> bool:
        """Whether an end mark or another mark stands in its middle. Such an answer is not used."""
        return len(self.target) + 1 != len(self.produced.ids)

    @property
    def is_new(self) -> bool:
        return self.target != self.source and not self.is_torn


Write = Callable[[list[str]], list[tuple[str, Produced] | None]]


def read(sentences: dict[int, Passage], write: Write) -> dict[int, list[Answer]]:
    """What the network wrote for some sentences, by their numbers. If it lost an anchor, the parts beside the anchor are read by
    themselves.

    ``write(texts)`` gives for each text what the network wrote for it and the pass that wrote it. It gives None if no end mark came:
    that answer is cut off, so the text stays uncorrected.
    """
    found: dict[int, list[Answer]] = {number: [] for number in sentences}
    waiting = list(sentences.items())
    while waiting:
        again = []
        for (number, part), written in zip(waiting, write([part.text for _, part in waiting]), strict=True):
            lost = part.anchors if written is None else lost_anchors(part, written[0])
            if lost:
                again += [(number, each) for each in passages_beside(part, lost)]
            elif written is not None:
                found[number].append(Answer(part, *written))
        waiting = again
    for answers in found.values():
        answers.sort(key=lambda answer: answer.part.start)
    return found
