"""Names the files and titles of saved pictures: the sentence, and which attention is shown."""

from ui.look.lens import Lens
from ui.wording import say
from viz.labels import plain_text

_LENGTH = 20  # characters of the sentence in a file's name


def file_name(lens: Lens, what: str = "attention") -> str:
    """A name that every system takes, without ending: 고객님이-cross-layer3-head2."""
    words = "".join(c if c.isalnum() else " " for c in lens.sentence.text[:_LENGTH]).split()
    layer = "mean" if lens.layer is None else lens.layer + 1
    head = "mean" if lens.head is None else lens.head + 1
    return "-".join([*words, lens.kind.removesuffix("_attention"), f"layer{layer}", f"head{head}", what])


def picture_title(lens: Lens) -> str:
    """The same for people, escaped for a figure."""
    return plain_text(f"{lens.sentence.text} · {say(f'kind_{lens.kind}')} · {lens.place}")
