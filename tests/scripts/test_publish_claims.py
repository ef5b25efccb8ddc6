import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = """# The claims, measured

| claim | held | |
|---|---|---|
| [`order`](#order) | held | bag 0.50, rotary 0.99 |
| [`data`](#data) | did not hold | CNN first at 100 to 5000 |

seqtag: 1, machine: two cores.
Intervals are of 95 per cent.

## order
"""


def module():
    spec = importlib.util.spec_from_file_location("publish", ROOT / "scripts/publish_claims.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_verdicts_and_pictures_stand_between_the_marks(capsys) -> None:
    publish = module()
    readme = f"before\n{publish.BEGIN}old\n{publish.END}\nafter\n"
    made = publish.with_claims(readme, PAGE)
    assert made.startswith("before\n")
    assert made.endswith(f"{publish.END}\nafter\n")
    assert "old" not in made
    assert (
        "| [`data`](data/claims/page.md#data) | did not hold | CNN first at 100 to 5000 |" in made
    )
    assert "![order](data/claims/order/plot.png)" in made
    assert "machine: two cores." in made
    assert publish.with_claims(made, PAGE) == made
    assert publish.main(["/nowhere"]) == 1
    assert "page.md is not there" in capsys.readouterr().err


def test_the_readme_shows_the_page_that_is_published() -> None:
    page = (ROOT / "data/claims/page.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert module().with_claims(readme, page) == readme
    for found in module().VERDICT.finditer(page):
        for file in module().FILES:
            assert (ROOT / "data/claims" / found["name"] / file).is_file()
