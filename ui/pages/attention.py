"""Type a sentence, see it corrected, and see where the network looked while correcting it."""

from ui.sentence import page

page.show_page("attention")
