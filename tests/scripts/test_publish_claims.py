import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERDICTS = [
    {"name": "order", "held": "held", "line": "bag 0.50, rotary 0.99", "measured": "Seeds 1."},
    {"name": "data", "held": "did not hold", "line": "CNN first", "measured": "Seeds 1."},
]


def module():
    spec = importlib.util.spec_from_file_location("publish", ROOT / "scripts/publish_claims.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_verdicts_and_pictures_stand_between_the_marks() -> None:
    publish = module()
    readme = f"before\n{publish.BEGIN}what was there\n{publish.END}\nafter\n"
    made = publish.with_claims(readme, VERDICTS)
    assert made.startswith("before\n")
    assert made.endswith(f"{publish.END}\nafter\n")
    assert "what was there" not in made
    assert "| [`data`](#data) | did not hold | CNN first |" in made
    assert "![order](data/claims/order/plot.png)" in made
    assert publish.with_claims(made, VERDICTS) == made


@pytest.mark.parametrize("missing", ["order/plot.png", "page.md", "verdicts.json", "marks"])
def test_nothing_is_touched_unless_all_is_there(missing: str, tmp_path: Path) -> None:
    publish = module()
    source, published = tmp_path / "runs", tmp_path / "claims"
    for name in ("order", "data"):
        (source / name).mkdir(parents=True)
        for file in publish.FILES:
            (source / name / file).write_text(name)
    (source / "page.md").write_text("page")
    (source / "verdicts.json").write_text(json.dumps(VERDICTS))
    readme = tmp_path / "README.md"
    readme.write_text(f"{publish.BEGIN}{publish.END}")
    publish.publish(source, published, readme)
    assert (published / "data" / "plot.png").read_text() == "data"
    before = readme.read_text()
    if missing == "marks":
        readme.write_text("no marks")
        before = "no marks"
    else:
        (source / missing).unlink()
    with pytest.raises((OSError, ValueError)):
        publish.publish(source, published, readme)
    assert readme.read_text() == before
    assert (published / "order" / "plot.png").read_text() == "order"


def test_the_readme_shows_what_is_published() -> None:
    verdicts = json.loads((ROOT / "data/claims/verdicts.json").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert module().with_claims(readme, verdicts) == readme
    for verdict in verdicts:
        for file in module().FILES:
            assert (ROOT / "data/claims" / verdict["name"] / file).is_file()
