import random
import unicodedata

import numpy as np
import pytest

from model.text.tokenizer import (
    END_ID,
    OUTSIDE_ID,
    SPECIAL_TOKENS,
    VISIBLE_SPACE,
    Tokenizer,
    normalise,
    visible,
)

CHARACTERS = "가각값좋조아요저는갑니다을를 .,!?aB9ㅋㅠ"
TOKENIZER = Tokenizer(CHARACTERS)
FAMILY = "👨‍👩‍👧"  # three emoji and two zero-width joiners


def back(target: str, source: str) -> str:
    """What comes out where the network produces ``target`` perfectly."""
    return TOKENIZER.decode(TOKENIZER.encode_target(target), source)


def test_texts_of_the_vocabulary_survive_whatever_the_source_was():
    rng = random.Random(0)
    for _ in range(300):
        text = "".join(rng.choices(CHARACTERS, k=rng.randrange(0, 30)))
        other = "".join(rng.choices(CHARACTERS + "🙂漢씂", k=rng.randrange(0, 30)))
        assert back(text, text) == text
        assert back(text, other) == text


@pytest.mark.parametrize(
    "outside",
    [
        "🙂",
        FAMILY,
        "👍🏽",
        "🇰🇷",
        "漢字",
        "é",
        "e\u0301",
        "ß",
        "씂쐼",
        "\u200b",
        "\ufffc",
        "\ufffd",
        "♥️",
        "ꥠ",
    ],
)
def test_what_is_outside_the_vocabulary_survives(outside):
    for text in (outside, f"{outside}가", f"가 {outside} 나요.", f"{outside}{outside} 가{outside}"):
        text = "".join(c for c in text if c != "나")
        assert back(text, text) == text


def test_random_mixtures_survive():
    rng = random.Random(1)
    for _ in range(300):
        text = "".join(rng.choices("가각요 .🙂漢字éß\u200d\ufffc씂", k=rng.randrange(0, 25)))
        assert back(text, text) == text


def test_outside_characters_find_their_place_in_a_corrected_sentence():
    source, target = "저는🙂 조아요 漢 갑니다", "저는 🙂 좋아요 漢 갑니다."
    assert back(target, source) == target


def test_outside_characters_keep_their_order_where_neighbours_change():
    assert back("좋아🙂漢요", "조아🙂漢요") == "좋아🙂漢요"
    assert back("좋아🙂요漢.", "조아🙂요漢") == "좋아🙂요漢."


def test_a_produced_outside_without_an_origin_is_dropped():
    ids = [*TOKENIZER.encode_target("가")[:-1], OUTSIDE_ID, OUTSIDE_ID, END_ID]
    assert TOKENIZER.decode(ids, "가") == "가"
    assert TOKENIZER.decode(ids, "가🙂") == "가🙂"


def test_decoding_stops_at_the_end_mark_and_skips_other_special_tokens():
    ids = [0, 2, *TOKENIZER.encode_target("가요"), *TOKENIZER.encode_target("값")]
    assert TOKENIZER.decode(ids, "가요") == "가요"
    assert TOKENIZER.decode(TOKENIZER.encode_target("가요")[:-1], "") == "가요"  # no end mark at all


def test_ids_of_the_source_and_of_the_target():
    assert TOKENIZER.vocab_size == len(SPECIAL_TOKENS) + len(CHARACTERS)
    assert TOKENIZER.encode_source("")[-1] == TOKENIZER.encode_target("")[-1] == END_ID
    assert TOKENIZER.encode_source("가")[0] == TOKENIZER.encode_target("가")[0] < TOKENIZER.vocab_size
    assert TOKENIZER.encode_source("씂")[0] == TOKENIZER.vocab_size + ord("씂") - ord("가")
    assert TOKENIZER.encode_target("씂")[0] == OUTSIDE_ID
    assert TOKENIZER.encode_source("🙂")[0] == TOKENIZER.encode_target("🙂")[0] == OUTSIDE_ID


def test_features_of_every_id():
    features = TOKENIZER.features()
    assert features.shape == (TOKENIZER.vocab_size + 11172, 4)
    assert features.dtype == np.int32
    ids = {c: TOKENIZER.encode_source(c)[0] for c in "값a씂힣"}
    assert features[ids["값"]].tolist() == [ids["값"], 1, 1, 18 + 1]  # ㄱ, ㅏ, ㅄ counted from 1
    assert features[ids["a"]].tolist() == [ids["a"], 0, 0, 0]
    assert features[ids["힣"]].tolist() == [OUTSIDE_ID, 19, 21, 28]
    jamo = [ord(c) for c in unicodedata.normalize("NFD", "씂")]
    expected = [OUTSIDE_ID, jamo[0] - 0x1100 + 1, jamo[1] - 0x1161 + 1, jamo[2] - 0x11A7 + 1]
    assert features[ids["씂"]].tolist() == expected
    assert TOKENIZER.features() is features  # worked out once
    outside = features[TOKENIZER.vocab_size :, 1:]
    assert len({tuple(row) for row in outside.tolist()}) == 11172
    assert outside.min() == 1


@pytest.mark.parametrize("characters", [["가", "가"], ["가나"], [""], ["\ufffc"]])
def test_a_vocabulary_of_anything_but_distinct_characters_is_refused(characters):
    with pytest.raises(ValueError, match=f"received {characters[-1]!r}"):
        Tokenizer(characters)


def test_decomposed_hangul_is_composed():
    assert normalise(unicodedata.normalize("NFD", "손니미 완는데")) == "손니미 완는데"
    assert normalise("cafe\u0301") == "café"


def test_ideographs_with_two_code_points_stay_as_typed():
    assert normalise("樂\uf914 \uf95c") == "樂\uf914 \uf95c"
    assert normalise(f"\uf914{unicodedata.normalize('NFD', '낙')}") == "\uf914낙"


def test_spaces_become_visible():
    assert visible("가 나") == ("가", VISIBLE_SPACE, "나")


def test_what_the_network_can_only_copy():
    assert [c for c in f"가씂 a漢9{FAMILY}" if TOKENIZER.is_outside(c)] == ["漢", *FAMILY]
