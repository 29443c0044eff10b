"""Type a sentence, see it corrected, and see where the network looked while correcting it."""

from ui.look import look
from ui.views import VIEWS

look.show("attention", VIEWS, "view")
