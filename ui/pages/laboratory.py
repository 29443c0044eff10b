"""Change something in the network, ask it again, and see whether the attention mattered."""

from ui.sentence import page

page.show_page("laboratory")
