"""Main page: type a sentence, see its correction and the attention behind it."""

from ui.sentence import page

page.show_page("attention")
