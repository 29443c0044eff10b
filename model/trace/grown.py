"""What the network of one snapshot of a training wrote for a sentence."""

from dataclasses import dataclass

from model.trace.trace import AttentionTrace


@dataclass(frozen=True)
class Grown:
    """The answer of the snapshot after ``step`` training steps, with all its proposals, however unsure; a young network would
    otherwise seem to do nothing. If it found no end mark, ``text`` is the source.
    """

    step: int
    source: str
    text: str
    trace: AttentionTrace  # of writing ``text``

    @property
    def is_unfinished(self) -> bool:
        """Whether the network writes no end mark even after the whole source. Then ``text`` is not its own."""
        likeliest, *_ = self.trace.alternatives[-1]
        return self.text == self.source and likeliest != self.trace.target_tokens[-1]
