import json
import os
import subprocess
import sys

import numpy as np
import pytest

from seqtag.data.spelling import (
    LONGEST_AFFIX,
    LONGEST_WORD,
    Affixes,
    SpeltWords,
    affixes,
    hashes,
    shape,
)

ODD_WORDS = ["", " ", "a", "I", "İ", "ı", "🙂", "e\u0301", "ﬁ", "x" * 100_000, "\ud800", "\x00"]


class TestShape:
    @pytest.mark.parametrize(
        ("word", "expected"),
        [
            ("", ""),
            ("a", "x"),
            ("Hello", "Xxxx"),
            ("USA", "XXX"),
            ("ANTIDISESTABLISHMENT", "XXX"),
            ("McDonald's", "XxXxxx'x"),
            ("Dec-12", "Xxx-dd"),
            ("1,000.50", "d,ddd.dd"),
            ("......", "..."),
            ("🙂", "🙂"),
            ("e\u0301te\u0301", "xxx"),
            ("Élan", "Xxxx"),
            ("ıİ", "xX"),
            ("ǅ", "X"),
            ("日本", "xx"),
            ("नि", "xx"),
            ("٣", "d"),
        ],
    )
    def test_says_the_kind_of_each_character(self, word: str, expected: str) -> None:
        assert shape(word) == expected


class TestAffixes:
    def test_are_of_the_lower_cased_form(self) -> None:
        form, shaped, size, *others = affixes("Walking")
        assert (form, shaped, size) == ("walking", "Xxxx", "7")
        assert others[:LONGEST_AFFIX] == ["w", "wa", "wal", "walk", "walki"]
        assert others[LONGEST_AFFIX:] == ["g", "ng", "ing", "king", "lking"]

    def test_of_a_short_word_are_the_word(self) -> None:
        assert affixes("I") == ["i", "X", "1", *["i"] * 10]
        assert affixes("of")[3:] == ["o", *["of"] * 4, "f", *["of"] * 4]
        assert affixes("") == ["", "", "0", *[""] * 10]

    def test_count_code_points(self) -> None:
        assert affixes("🙂!")[3:5] == ["🙂", "🙂!"]
        assert affixes("cafe\u0301")[8:10] == ["\u0301", "e\u0301"]

    def test_case_is_lowered_alike_wherever_it_runs(self) -> None:
        assert affixes("I")[0] == "i"
        assert affixes("ı")[0] == "ı"
        assert affixes("İ")[0] == "i\u0307"

    def test_hashes_have_31_bits(self) -> None:
        for word in ODD_WORDS:
            assert len(hashes(word)) == 13
            assert all(0 <= number < 2**31 for number in hashes(word))

    def test_case_shows_in_the_shape_alone(self) -> None:
        differ = [one != other for one, other in zip(hashes("Dog"), hashes("dog"), strict=True)]
        assert differ == [False, True, *[False] * 11]

    def test_words_share_the_affixes_they_have_in_common(self) -> None:
        pairs = list(zip(hashes("walking"), hashes("talking"), strict=True))
        same = [one == other for one, other in pairs]
        assert same == [False, True, True, *[False] * 5, *[True] * 5]

    def test_a_prefix_is_no_suffix(self) -> None:
        assert len(set(hashes("in"))) == 13

    def test_hashes_seldom_collide(self) -> None:
        lists = [hashes(f"{a}{b}") for a in "abcdefghij" for b in range(200)]
        forms = {numbers[0] % 16384 for numbers in lists}
        # 2000 balls thrown into 16384 bins fill 1883 on average, with a deviation of 10.
        assert 1840 < len(forms) < 1925

    def test_hashes_are_the_same_in_every_process(self) -> None:
        code = "from seqtag.data.spelling import hashes; print(list(hashes('Straße')))"
        found = {
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for seed in ("1", "2")
        }
        assert found == {str(list(hashes("Straße")))}

    def test_hashes_are_those_of_earlier_versions(self) -> None:
        # A checkpoint knows them by heart; other numbers would make it talk nonsense.
        assert hashes("a")[:3] == (1713136815, 46240613, 1274872094)

    def test_field_has_a_row_of_hashes_for_each_word(self) -> None:
        field = Affixes.fit({"a": 1})
        encoded = field.encode(["walking", "", "walking"])
        assert encoded.dtype == np.int32
        assert encoded.shape == (3, 13) == (3, *field.shape)
        assert len(field) == 13
        assert encoded[0].tolist() == encoded[2].tolist() == list(hashes("walking"))
        assert field.encode([]).shape == (0, 13)
        assert Affixes(**field.state()).encode(["a"]).tolist() == field.encode(["a"]).tolist()


class TestSpeltWords:
    FIELD = SpeltWords(["a", "b", "é"])

    @pytest.mark.parametrize(
        ("word", "ids"),
        [("", []), ("b", [3]), ("aéb", [2, 4, 3]), ("aZa", [2, 1, 2]), ("e\u0301", [1, 1])],
    )
    def test_characters_become_ids_with_padding_behind(self, word: str, ids: list[int]) -> None:
        encoded = self.FIELD.encode([word])
        assert encoded.tolist() == [[*ids, *[0] * (LONGEST_WORD - len(ids))]]
        assert encoded.dtype == np.int32

    def test_of_long_words_the_first_and_the_last_are_kept(self) -> None:
        assert self.FIELD.encode(["b" * 19 + "a"]).tolist() == [[3] * 19 + [2]]
        long = "a" * 10 + "é" * 1000 + "b" * 10
        assert self.FIELD.encode([long]).tolist() == [[2] * 10 + [3] * 10]
        odd = "a" * 10 + "é" + "b" * 10
        assert self.FIELD.encode([odd]).tolist() == [[2] * 10 + [3] * 10]

    def test_the_same_word_has_the_same_ids_again(self) -> None:
        first = self.FIELD.encode(["ab", "b"])
        first[:] = 9  # what is remembered is not what was handed out
        assert self.FIELD.encode(["b", "ab"])[:, :3].tolist() == [[3, 0, 0], [2, 3, 0]]

    def test_characters_met_once_are_unknown(self) -> None:
        field = SpeltWords.fit({"ab": 2, "b": 1, "cd": 1, "dé": 1})
        assert field.state() == {"symbols": ["b", "a", "d"]}
        assert field.encode(["abcdé"])[0, :5].tolist() == [3, 2, 1, 4, 1]
        assert len(field) == 5

    def test_every_kind_of_word_is_taken(self) -> None:
        assert self.FIELD.encode(ODD_WORDS).shape == (len(ODD_WORDS), *self.FIELD.shape)
        assert self.FIELD.encode([]).shape == (0, LONGEST_WORD)

    def test_is_the_same_after_it_was_kept_as_plain_values(self) -> None:
        again = SpeltWords(**json.loads(json.dumps(self.FIELD.state())))
        assert again.encode(["aéb"]).tolist() == self.FIELD.encode(["aéb"]).tolist()
