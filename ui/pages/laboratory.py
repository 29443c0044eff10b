"""Page of the laboratory: intervene in the network, and see whether the attention mattered."""

from ui.sentence import page

page.show_page("laboratory")
