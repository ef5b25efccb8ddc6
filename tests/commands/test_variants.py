import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from seqtag.commands.arguments import sort_arguments
from seqtag.commands.messages import UnreadableError
from seqtag.commands.variants import read_variants


def as_hydra_reads(variants: str) -> object:
    (override,) = sort_arguments([f"variants={variants}"]).overrides
    return OverridesParser.create().parse_override(override).value()


@pytest.mark.parametrize(
    "typed",
    [
        "{small: [encoder.dim=64], big: [encoder.dim=256, encoder/position=none]}",
        "{small:[encoder.dim=64],big:[encoder.dim=256,encoder/position=none]}",
        " { small : [ encoder.dim=64 ] , big : [encoder.dim=256, encoder/position=none,], } ",
        "{small: encoder.dim=64, big: ['encoder.dim=256', \"encoder/position=none\"]}",
    ],
)
def test_variants_are_read_as_they_are_typed(typed: str) -> None:
    small, big = ["encoder.dim=64"], ["encoder.dim=256", "encoder/position=none"]
    assert as_hydra_reads(typed) == {"small": small, "big": big}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("data.features=[UPOS,XPOS]", ["UPOS", "XPOS"]),
        ("+encoder.extra={a: [1, 2], b: {c: 3}}", {"a": [1, 2], "b": {"c": 3}}),
        ("data.missing='a, b'", "'a, b'"),
        ("encoder.name='a, ]b'", "a, ]b"),
        ('encoder.name="it\'s, [so]"', "it's, [so]"),
        (r"encoder.name='it\'s, [so'", "it's, [so"),
        ("data.train=it's here.txt", "it's here.txt"),
        ("encoder.dim=null", None),
    ],
)
def test_words_of_variants_may_hold_what_other_words_may(word: str, value: object) -> None:
    expected = {"a": [sort_arguments([word]).overrides[0]], "b": ["seed=1"]}
    found = as_hydra_reads(f"{{a: [{word}], b: [seed=1]}}")
    assert found == expected
    parsed = OverridesParser.create().parse_override(expected["a"][0]).value()
    assert getattr(parsed, "text", parsed) == value


def test_a_variant_may_change_nothing_or_delete() -> None:
    assert as_hydra_reads("{plain: [], without: [~scheduler]}") == {
        "plain": [],
        "without": ["~scheduler"],
    }


def test_no_variants_stay_null() -> None:
    assert sort_arguments(["variants=null"]).overrides == ["variants=null"]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("small", "cannot be read; it is variants={NAME"),
        ("{small:", "cannot be read; it is variants={NAME"),
        ("{}", "names none"),
        ("{small}", "'small' cannot be read"),
        ("{small: }", "'small:' cannot be read"),
        ("{small: [dim]}", "'dim' of small is no key=value"),
        ("{64: [encoder.dim=64]}", "'64' cannot be a name"),
        ("{true: [encoder.dim=64]}", "'true' cannot be a name"),
        ("{a b: [encoder.dim=64]}", "'a b' cannot be a name"),
        ("{a: [seed=1], a: [seed=2]}", "two of them are called a"),
        ("{a: [seed=1}", "a '}' too many|no ] ends"),
        ("{a: [x=(1]}", r"a '\]' too many"),
        ("{a: [seed=1]]}", r"a '\]' too many"),
        ("{a: [seed='1]}", "no ' ends"),
        ("{a: [seed=1,,seed=2]}", "nothing stands between two commas"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(typed: str, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as found:
        sort_arguments([f"variants={typed}"])
    assert "\n" not in str(found.value)


@given(st.text(alphabet="{}[]()'\"\\,:= ab1", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for typed in (text, f"{{a: {text}}}", f"{{a: [x={text}]}}"):
        try:
            variants = read_variants(typed)
        except UnreadableError:
            continue
        if not any(word[0] in "'\"" for words in variants.values() for word in words):
            assert as_hydra_reads(typed) == variants
