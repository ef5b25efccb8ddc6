import pytest

from seqtag.report import fonts

PRIVATE = "\U000f1234"


def test_the_first_family_serves_where_it_has_all_characters() -> None:
    assert fonts.choose_families("saw שלום مرحبا ⟨␣") == ([fonts.FIRST], set())


def test_an_installed_font_is_taken_for_what_the_first_family_lacks() -> None:
    # U+E142 is no character, and of the fonts that come with matplotlib STIX alone has it.
    families, missing = fonts.choose_families("a\ue142")
    assert len(families) == 2
    assert families[1].startswith("STIX")
    assert not missing


def test_characters_of_no_font_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts.font_manager, "findSystemFonts", list)
    families, missing = fonts.choose_families("a" + PRIVATE)
    assert (families, missing) == ([fonts.FIRST], {PRIVATE})


def test_fonts_installed_since_matplotlib_looked_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts.font_manager, "findSystemFonts", lambda: ["/fonts/new.ttf"])
    added: list[str] = []
    monkeypatch.setattr(fonts.font_manager.fontManager, "addfont", added.append)
    fonts.choose_families(PRIVATE)
    assert added == ["/fonts/new.ttf"]


def test_what_joins_its_neighbours_needs_no_picture_of_its_own() -> None:
    assert fonts.choose_families("a\u200d\ufe0f") == ([fonts.FIRST], set())


def test_packages_are_named_by_what_is_missing() -> None:
    assert fonts.packages("京あ한") == ["fonts-noto-cjk"]
    assert fonts.packages("京ก") == ["fonts-noto-cjk", "fonts-noto-core"]
