"""Exported page with its network: offered for that network, opens at the sentence."""

import zlib
from urllib.parse import parse_qs

import pytest

from deploy.site.build import PackedPart, page
from tests.ui.screen import open_popover
from ui.export import take_away
from viz.browser.texts import table

LIBRARY = {"library": PackedPart("library", zlib.compress(b""))}
PRODUCT = {language: table(language) for language in ("ko", "en")}


@pytest.fixture
def file(tmp_path):
    """The page of a network called "abc.def", with nothing in it."""
    path = tmp_path / "page.html"
    path.write_bytes(page({"fingerprint": "abc.def", "texts": PRODUCT}, LIBRARY, alone=True))
    return path


def test_it_is_that_of_one_network(file):
    assert take_away.holds("abc.def", file)
    assert not take_away.holds("abc.de", file)
    assert not take_away.holds("abc.def", file.with_name("nowhere.html"))


@pytest.mark.parametrize("text", ["밥을 머거요.", "</script><b>&\"'+%\n", "반쪽 \ud800"])
def test_it_begins_with_the_sentence_and_is_otherwise_the_same(file, text):
    made = take_away.to_alive({"text": text, "lang": "en"}, file)
    opening = b'<script type="text/plain" id="beginning">'
    told = made.partition(opening)[2].partition(b"</script>")[0]
    expected = text.encode("utf-8", "replace").decode()
    assert parse_qs(told.decode(), strict_parsing=True) == {"text": [expected], "lang": ["en"]}
    assert made.replace(told, b"", 1) == file.read_bytes()


@pytest.mark.parametrize("is_there", [False, True])
def test_the_app_offers_it_where_the_file_lies(open_app, monkeypatch, is_there):
    monkeypatch.setattr(take_away, "holds", lambda fingerprint: is_there)
    app = open_popover(open_app(sentence="고갱"), "taking")
    labels = [each.proto.label for each in app.get("download_button")]
    assert (table("ko")["take_away_alive"] in labels) == is_there
    assert table("ko")["take_away_html"] in labels
