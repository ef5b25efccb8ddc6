"""Put measured claims into the project: python scripts/publish_claims.py runs/claims

Copies what `python -m seqtag claims` wrote - the page, and each claim's table and plot - to
data/claims/, and writes verdicts and pictures between the marks of README.md.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "data" / "claims"
BEGIN, END = "<!-- claims:begin -->\n", "<!-- claims:end -->"
FILES = ("table.csv", "plot.svg", "plot.png")
VERDICT = re.compile(r"\| \[`(?P<name>\w+)`\]\(#\w+\) \| (?P<held>[\w ]+) \| (?P<line>.*) \|")


def main(words: list[str]) -> int:
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    source = Path(words[0])
    page = source / "page.md"
    if not page.is_file():
        print(f"error: {page} is not there: python -m seqtag claims writes it", file=sys.stderr)
        return 1
    text = page.read_text(encoding="utf-8")
    names = [found["name"] for found in VERDICT.finditer(text)]
    shutil.rmtree(PUBLISHED, ignore_errors=True)
    PUBLISHED.mkdir(parents=True)
    shutil.copy(page, PUBLISHED)
    for name in names:
        (PUBLISHED / name).mkdir()
        for file in FILES:
            shutil.copy(source / name / file, PUBLISHED / name)
    readme = ROOT / "README.md"
    readme.write_text(with_claims(readme.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 0


def with_claims(readme: str, page: str) -> str:
    """The README with the verdicts of a page and its circumstances between the marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    claims = list(VERDICT.finditer(page))
    circumstances = page.split("\n\n")[2]
    table = [
        "| claim | held | deciding numbers |",
        "|---|---|---|",
        *(
            f"| [`{found['name']}`](data/claims/page.md#{found['name']}) | {found['held']} "
            f"| {found['line']} |"
            for found in claims
        ),
    ]
    pictures = [
        f"**{found['name']}**\n\n![{found['name']}](data/claims/{found['name']}/plot.png)"
        for found in claims
    ]
    block = "\n".join(table) + f"\n\n{circumstances}\n\n" + "\n\n".join(pictures) + "\n"
    return before + BEGIN + block + END + after


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
