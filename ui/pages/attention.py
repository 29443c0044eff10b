"""Type a sentence, see it corrected, and see where the network looked while correcting it."""

from ui.sentence import page
from ui.views import VIEWS

page.show_page("attention", VIEWS, "view")
