"""Put measured claims into the project: python scripts/publish_claims.py runs/claims

Copies what `python -m seqtag claims` wrote - the page, and each claim's table and plot - to
data/claims/, and writes verdicts and pictures between the marks of README.md.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "data" / "claims"
BEGIN, END = "<!-- claims:begin -->\n", "<!-- claims:end -->"
PAGE = ("page.md", "verdicts.json")
FILES = ("table.csv", "plot.png")


def main(words: list[str]) -> int:
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        publish(Path(words[0]), PUBLISHED, ROOT / "README.md")
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def publish(source: Path, published: Path, readme: Path) -> None:
    """Take over what is in a folder of measured claims; nothing is touched unless all is there.

    Raises:
        OSError: a file is not there.
        ValueError: the README has no marks.
    """
    verdicts = json.loads((source / "verdicts.json").read_text(encoding="utf-8"))
    text = with_claims(readme.read_text(encoding="utf-8"), verdicts)
    scratch = published.with_name(f".{published.name}.part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    for name in PAGE:
        shutil.copy(source / name, scratch)
    for verdict in verdicts:
        (scratch / verdict["name"]).mkdir()
        for file in FILES:
            shutil.copy(source / verdict["name"] / file, scratch / verdict["name"])
    shutil.rmtree(published, ignore_errors=True)
    scratch.rename(published)
    readme.write_text(text, encoding="utf-8")


def with_claims(readme: str, verdicts: list[dict[str, str]]) -> str:
    """The README with the verdicts and plots between the marks.

    Raises:
        ValueError: it has no marks.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or not verdicts:
        raise ValueError(f"no verdicts, or the README has no {BEGIN.strip()} and {END}")
    table = [
        "| claim | held | deciding numbers |",
        "|---|---|---|",
        *(f"| [`{v['name']}`](#{v['name']}) | {v['held']} | {v['line']} |" for v in verdicts),
    ]
    measured = "; ".join(dict.fromkeys(v["measured"].rstrip(".") for v in verdicts))
    pictures = [
        f"#### {v['name']}\n\n![{v['name']}](data/claims/{v['name']}/plot.png)" for v in verdicts
    ]
    block = [*table, "", f"{measured}.", "", "\n\n".join(pictures), ""]
    return before + BEGIN + "\n".join(block) + END + after


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
