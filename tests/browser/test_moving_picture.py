"""The READMEs' moving picture: the texts seen in each of its steps."""

import importlib.util
import sys
from pathlib import Path

from ui.wording import table

PATH = Path(__file__).parents[2] / "docs" / "moving_picture.py"
KO = table("ko")


def test_a_sentence_is_typed_and_mended_and_its_mend_goes_with_a_head(
    server, browser, corrector, monkeypatch
):
    spec = importlib.util.spec_from_file_location("moving_picture", PATH)
    script = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "moving_picture", script)  # where its dataclass looks
    spec.loader.exec_module(script)
    seen, lasted = [], []

    class Watched(script.Film):
        """Keeps the texts of the page in place of pictures."""

        def take(self, duration):
            area = self.page.locator(".st-key-live_text textarea")
            typed = area.input_value() if area.count() else ""
            seen.append((typed, self.page.locator("body").inner_text()))
            lasted.append(duration)

        def packed(self):
            return b""

    monkeypatch.setattr(script, "Film", Watched)
    text, head = script.deciding_head(corrector)
    (sentence,) = corrector.correct(text).sentences
    page = browser.new_page(viewport=script.SIZE)
    page.add_init_script("localStorage.setItem('attentionWelcomed', '1')")
    script.filmed(page, server, text, head)
    typed = [each for each, _ in seen[: len(text) + 1]]
    assert typed == [text[:count] for count in range(len(text) + 1)]
    assert sum(lasted) <= script.LENGTH
    change = sentence.changes[0]
    mended = page.locator(".before-and-after .written").all_inner_texts()
    assert change.right in mended[0] and mended[0] == sentence.text != mended[1]
    assert KO["without_made"] in seen[-2][1]  # before the head is off
    assert KO["without_undone"] in seen[-1][1] or KO["without_other"] in seen[-1][1]
    page.close()
