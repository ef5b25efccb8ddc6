import json
from pathlib import Path
from typing import Any

from seqtag.claims.job import Measured
from seqtag.claims.page import make_report, write_page, write_report

from .counting import Counting

ROWS = [
    {"seed": seed, "place": f"<{place}>", "number": place + 0.1 * seed}
    for seed in (1, 2)
    for place in (0, 1)
]

WHERE = {"machine": "a & b"}


def claim(tmp_path: Path) -> Counting:
    settings: dict[str, Any] = {"count": 2, "fails": [], "dies": [], "seconds": 0.0}
    return Counting(seeds=[1, 2], full=False, device="cpu", folder=str(tmp_path), **settings)


def test_a_report_has_every_combination_with_its_interval(tmp_path: Path) -> None:
    report = make_report("counting", claim(tmp_path), Measured(ROWS, WHERE))
    assert report.columns == ("place", "number")
    # Two seeds, 0.1 and 0.2: mean 0.15, deviation 0.0707, t with one degree of freedom 12.706.
    assert report.table == [("<0>", "0.150 ± 0.635"), ("<1>", "1.150 ± 0.635")]
    assert report.held == "held"
    assert make_report("counting", claim(tmp_path), Measured(ROWS, WHERE)).svg == report.svg
    assert report.png.startswith(b"\x89PNG")


def test_the_files_hold_every_row_and_the_page_opens_alone(tmp_path: Path) -> None:
    reports = [
        make_report("counting", claim(tmp_path), Measured(ROWS, WHERE)),
        make_report("less", claim(tmp_path), Measured(ROWS[::2], WHERE)),
    ]
    assert [report.held for report in reports] == ["held", "did not hold"]
    for report in reports:
        write_report(report, tmp_path / report.name)
    assert (tmp_path / "counting" / "table.csv").read_text().splitlines() == [
        "seed,place,number",
        "1,<0>,0.1",
        "1,<1>,1.1",
        "2,<0>,0.2",
        "2,<1>,1.2",
    ]
    page = write_page(reports, tmp_path)
    html = page.read_text()
    assert html.count("<svg") == 2
    assert "<?xml" not in html
    assert "src=" not in html
    assert "&lt;0&gt;" in html
    assert "<0>" not in html
    assert "Counted &amp; &lt;compared&gt;." in html
    assert "Seeds 1, 2; machine a &amp; b." in html
    markdown = (tmp_path / "page.md").read_text()
    assert "| [`less`](#less) | did not hold | up to 0.2 |" in markdown
    assert "![counting](counting/plot.png)" in markdown
    for report in reports:
        assert (tmp_path / report.name / "plot.svg").is_file()
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())
    assert [verdict["held"] for verdict in verdicts] == ["held", "did not hold"]

    write_page(reports[1:], tmp_path / "less")
    assert "![less](plot.png)" in (tmp_path / "less" / "page.md").read_text()
    assert "counting" in (tmp_path / "page.md").read_text(), "the page of all is as it was"
