"""Screen texts of all languages: the same keys and placeholders, each in use."""

import ast
import json
import re
import warnings
from pathlib import Path
from string import Formatter

import pytest

import assets
from deploy.site import build
from model.analysis.attribution_methods import METHODS
from tests.ui.screen import menu, title
from ui.shell.settings import load_examples
from viz.browser import texts
from viz.browser.texts import LANGUAGES, own_texts, table

ROOT = Path(__file__).parents[3]
WHOLE = ("ko", "en")  # these two fill the gaps of others, so they have none themselves


def placeholders(text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name}
    except ValueError as error:  # a brace without its other half
        return {str(error)}


@pytest.fixture
def german(tmp_path, monkeypatch):
    """A third language is a folder; this one says two things."""
    for language in WHOLE:
        (tmp_path / language).symlink_to(assets.TEXTS / language)
    (tmp_path / "de").mkdir()
    own = {"language_name": "Deutsch", "model_page": "Modell"}
    (tmp_path / "de" / "app.json").write_text(json.dumps(own), "utf-8")
    (tmp_path / "notes.txt").write_text("no language", "utf-8")
    texts.own_texts.cache_clear(), texts.table.cache_clear()
    monkeypatch.setattr(assets, "TEXTS", tmp_path)
    for code in LANGUAGES.keys() - set(WHOLE):
        monkeypatch.delitem(LANGUAGES, code)
    monkeypatch.setitem(LANGUAGES, "de", "Deutsch")
    yield own
    monkeypatch.undo()
    texts.own_texts.cache_clear(), texts.table.cache_clear()


def test_a_folder_is_all_that_a_language_takes_and_what_it_lacks_is_said_in_english(german, open_app):
    assert texts.languages() == {"ko": "한국어", "en": "English", "de": "Deutsch"}
    assert table("de") == table("en") | german
    app = open_app("model")
    menu(app, "language").click("de").run()
    assert title(app) == "Modell"
    assert menu(app, "pages").options[0] == table("en")["attention_page"]
    assert menu(app, "language").options == ["한국어", "English", "Deutsch"]
    offered = build.texts_of(examples=["liaison"])  # of the browser's own page
    assert list(offered) == list(LANGUAGES) == ["ko", "en", "de"]
    assert offered["de"]["language_name"] == "Deutsch" and offered["de"].keys() == offered["ko"].keys()


def test_a_file_that_cannot_be_read_is_named(german):
    (assets.TEXTS / "de" / "lines.json").write_text('{"lines_all": "alle",}', "utf-8")
    texts.own_texts.cache_clear()
    with pytest.raises(ValueError, match=r"de/lines\.json"):
        own_texts("de")


def missing_texts(language: str) -> dict[str, list[str]]:
    """File of ``assets/texts/ko`` -> the keys in it that the language lacks."""
    files = {
        path.name: json.loads(path.read_text("utf-8")) for path in sorted((assets.TEXTS / "ko").iterdir())
    }
    lacking = {name: sorted(keys - own_texts(language).keys()) for name, keys in files.items()}
    return {name: keys for name, keys in lacking.items() if keys}


@pytest.mark.parametrize("language", LANGUAGES)
def test_missing_texts_are_listed(language):
    """Of a language that is being translated this is a warning, a line for each file; Korean and English must
    be whole."""
    missing = missing_texts(language)
    if missing and language not in WHOLE:
        lines = [f"{name}, {len(keys)}: {' '.join(keys)}" for name, keys in missing.items()]
        warnings.warn("\n".join([f"texts that {language} lacks", *lines]), stacklevel=1)
    assert not missing or language not in WHOLE


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_have_texts_of_the_same_keys_and_placeholders_and_none_is_empty(language):
    korean, own = own_texts("ko"), own_texts(language)
    assert sorted(own.keys() - korean.keys()) == []
    assert {key: own[key] for key in own if placeholders(own[key]) != placeholders(korean[key])} == {}
    assert not [key for key, text in table(language).items() if not text.strip()]


OTHER_WORDS = {  # a second Korean word for a thing that has one already -> the one that it has
    "쿼리": "질의",
    "크로스 어텐션": "디코더→인코더",
    "교차 어텐션": "디코더→인코더",
    "인코더–디코더 어텐션": "디코더→인코더 어텐션",
    "미리보기 마스크": "룩어헤드 마스크",
    "채움": "패딩",
    "늘어놓는": "정렬",
    "걸음": "단계",
    "경음화": "된소리되기",
    "네트워크": "신경망",
    "보이는 쪽": "보는 곳",
    "보는 쪽": "보는 곳",
    "옳은 문장": "맞는 문장",
    "휴대전화": "휴대 전화",
    # In dark the strongest colour is the palest one.
    **{f"{shade} 칸": "값의 부호, 색이 강한 칸" for shade in ("붉은", "푸른", "진한", "짙은")},
}


def test_one_thing_has_one_word():
    for key, text in own_texts("ko").items():
        assert not [word for word in OTHER_WORDS if word in text], key


@pytest.mark.parametrize("language", WHOLE)
def test_each_method_of_attribution_has_a_sentence_of_its_own(language):
    said = table(language)["sources_idea"]
    for method in METHODS:
        name = table(language)[f"method_{method}"]
        assert re.search(rf"^- \*\*{re.escape(name)}\*\*: .{{20,}}", said, re.MULTILINE), name


def spoken(tree: ast.AST) -> tuple[set[str], list[str]]:
    """(string constants, patterns of f-strings) of a module: possible keys, or patterns of keys."""
    constants, patterns = set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            constants.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = (
                re.escape(part.value) if isinstance(part, ast.Constant) else r"[\w.]+" for part in node.values
            )
            patterns.append("".join(parts))
    return constants, patterns


def test_every_key_is_used_and_every_key_asked_for_exists():
    keys = set(table("ko"))
    constants, patterns, asked = set(), [], set()
    for path in [ROOT / "app.py", *(ROOT / "ui").rglob("*.py")]:
        code = path.read_text("utf-8")
        found, made = spoken(ast.parse(code))
        constants, patterns = constants | found, patterns + made
        asked |= set(re.findall(r'say\("([^"]+)"', code))
    assert asked <= keys
    assert [key for key in keys - constants if not any(re.fullmatch(each, key) for each in patterns)] == []


def test_every_example_has_a_name_and_its_own_sentence():
    offered = load_examples()
    assert len(offered) >= 10
    assert {f"example_{example.id}" for example in offered} == {
        key for key in table("ko") if key.startswith("example_")
    } - {"example_label"}
    assert len({example.text for example in offered}) == len(offered)
