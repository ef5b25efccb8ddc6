"""The files and the terminal's text of a comparison."""

import csv
import io
import json
import math
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.cells import cell_len

from seqtag.comparison.comparison import Comparison, Score
from seqtag.report.comparison import page
from seqtag.report.comparison.attention import AttentionPicture, NoPicture
from seqtag.report.comparison.data import spell_csv, spell_json
from seqtag.report.comparison.markdown import spell_markdown
from seqtag.report.comparison.numbers import (
    decimals,
    spell_count,
    spell_interval,
    spell_number,
    spell_p,
    spell_range,
    spell_seconds,
)
from seqtag.report.comparison.page import write_report
from seqtag.report.comparison.tables import (
    environment_rows,
    pair_columns,
    score_columns,
    setting_columns,
)
from seqtag.report.comparison.terminal import print_comparison
from seqtag.report.comparison.text import markdown
from seqtag.report.lettering import plain

from .made_comparison import EVIL, made

VOID = {"meta", "link", "br", "img"}
LOADS = {"src", "srcset", "href", "xlink:href", "action", "data", "poster", "background"}


class Page(HTMLParser):
    """Checks that what is opened is closed, and keeps what a browser would load or run."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.handlers: list[str] = []
        self.text: list[str] = []
        self.sorted_by: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name in LOADS:
                self.loads.append(value or "")
            if name == "id":
                self.ids.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            if name == "data-order":
                self.sorted_by.append(value or "")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take longer than all else."""
    monkeypatch.setattr(page, "draw_plots", lambda _: [])


def html_of(comparison: Comparison, folder: Path, picture: object = None) -> str:
    path = write_report(comparison, folder, picture)  # type: ignore[arg-type]
    assert path == folder / "report.html"
    return path.read_text(encoding="utf-8")


def bare(**changes: object) -> Comparison:
    """One contender of one seed, and nothing to say of it."""
    one = replace(made(1, seeds=1, floors=False).contenders[0], words=[], settings={})
    comparison = Comparison(
        split="dev",
        metric="accuracy",
        higher_is_better=True,
        rows=1,
        resamples=10,
        contenders=[one],
        pairs=[],
        disagreements=[],
    )
    return replace(comparison, **changes)  # type: ignore[arg-type]


def test_the_page_is_one_file_that_loads_nothing_and_runs_nothing_foreign(tmp_path: Path) -> None:
    picture = AttentionPicture("<b>title</b>", EVIL, b"\x89PNG")
    html = html_of(made(3, evil=True), tmp_path, picture)
    page = Page(html)
    assert page.tags.count("script") == 1
    assert page.handlers == []
    assert page.tags.count("img") == 1
    assert page.tags.count("svg") == 4
    assert all(load.startswith(("#", "data:")) for load in page.loads), page.loads
    assert "data:image/png;base64,iVBORw==" in page.loads
    assert len(page.ids) == len(set(page.ids)), "no two pictures name a part alike"
    links = {load for load in page.loads if load.startswith("#")}
    assert links <= {f"#{name}" for name in page.ids}
    assert not re.search(r"@import|url\((?!#)", html)
    assert "Content-Security-Policy" in html
    assert not set(html) & {"\x1b", "\u202e", "\u200b", "\r", "\udc80"}
    assert plain(EVIL) in "".join(page.text)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "report.html",
        "report.md",
        "results.csv",
        "results.json",
    ]


@pytest.mark.usefixtures("no_plots")
def test_the_page_shows_what_there_is(tmp_path: Path) -> None:
    html = html_of(made(5, folds=True), tmp_path)
    text = " ".join(" ".join(Page(html).text).split())
    for shown in (
        "5 contenders and 2 floors compared",
        "accuracy on test, 2,077 rows; higher is better; intervals of 95 per cent by 2,000",
        "the runs had different budgets",
        "0.9300 [0.9240, 0.9350]",
        "5 x 5 folds",
        "12 min 18 s",
        "floor_word (floor): each word's most frequent label in training",
        "not told apart from cnn, p = 0.606",
        "10 pairs with the tests",
        "attention ahead on 120 rows",
        "encoder.num_layers",
        "not finished: no metrics.json",
        "packages.torch 2.13.0",
    ):
        assert shown in text, shown
    assert '<mark class="wrong">NOUN</mark> DET <mark class="wrong">VERB</mark>' in html
    assert 'class="better"' in html
    assert 'class="worse-rows"' in html
    assert "No picture" not in text


@pytest.mark.usefixtures("no_plots")
def test_a_missing_picture_has_its_reason(tmp_path: Path) -> None:
    html = html_of(made(2), tmp_path, NoPicture("cnn: <gone>"))
    assert "No picture: cnn: &lt;gone&gt;." in html


@pytest.mark.usefixtures("no_plots")
def test_one_contender_alone_is_a_report_too(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    comparison = bare()
    text = " ".join(Page(html_of(comparison, tmp_path)).text)
    assert "1 contender compared" in text
    for absent in ("Pairs", "Where they differ", "Settings", "To know"):
        assert absent not in text
    assert "## Pairs" not in (tmp_path / "report.md").read_text()
    print_comparison(comparison)
    assert "0.9300" in capsys.readouterr().out


def test_what_is_not_a_number_is_a_dash_on_paper_and_nothing_in_files(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    nothing = Score(mean=math.nan, low=math.nan, high=math.inf, spread=None, seeds=[math.nan, 0.5])
    comparison = bare()
    comparison.contenders[0].scores = {"accuracy": nothing}
    comparison.contenders[0].curves[0].dev[:] = [None] * len(comparison.contenders[0].curves[0].dev)
    page = Page(html_of(comparison, tmp_path))
    assert "svg" not in page.tags
    assert not {"nan", "inf"} & set(page.sorted_by)
    assert json.loads((tmp_path / "results.json").read_text(), parse_constant=pytest.fail)
    (line,) = csv.DictReader((tmp_path / "results.csv").open())
    assert (line["mean"], line["high"], line["spread"], line["seed_scores"]) == (
        "",
        "",
        "",
        "- 0.5",
    )
    print_comparison(comparison)
    assert "nan" not in (capsys.readouterr().out + (tmp_path / "report.md").read_text())


def test_nothing_at_all_is_a_report_too(tmp_path: Path) -> None:
    Page(html_of(bare(contenders=[], skipped={"runs/<x>": "damaged"}), tmp_path))
    assert "runs/\\<x\\>: damaged" in (tmp_path / "report.md").read_text()


def test_the_json_holds_everything_with_all_digits() -> None:
    comparison = made(3, evil=True)
    read = json.loads(spell_json(comparison))
    told = asdict(comparison)
    for two in told["disagreements"]:
        for example in (*two["for_first"], *two["for_second"]):
            example["scores"] = [s if math.isfinite(s) else None for s in example["scores"]]
    assert read == told


def test_the_csv_reads_back_as_the_same_numbers() -> None:
    comparison = made(3, evil=True)
    text = io.StringIO(spell_csv(comparison).decode(), newline="")
    lines = list(csv.DictReader(text))
    wanted = [(one, m, s) for one in comparison.contenders for m, s in one.scores.items()]
    assert len(lines) == len(wanted)
    for line, (one, metric, score) in zip(lines, wanted, strict=True):
        assert line["metric"] == metric
        assert line["contender"].startswith(one.name[:20])
        found = [float(line[key]) for key in ("mean", "low", "high")]
        assert found == [score.mean, score.low, score.high]
        assert line["floor"] == (one.floor or "")
        if one.seeds:
            assert list(map(int, line["seeds"].split())) == one.seeds
            assert list(map(float, line["seed_scores"].split())) == score.seeds
            assert int(line["parameters"]) == one.parameters
            assert line["dev"] == (repr(one.dev[metric]) if metric in one.dev else "")


def test_the_tables_of_the_markdown_are_whole() -> None:
    text = spell_markdown(made(5, evil=True)).decode()
    blocks = [b.splitlines() for b in text.split("\n\n") if b.startswith("|")]
    assert len(blocks) > 5
    for lines in blocks:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(widths) == 1, lines
        assert re.fullmatch(r"\|(---:?\|)+", lines[1])
    assert "<script>" not in text.replace("\\<", "")
    assert "macro_f1" in text


def test_markdown_reads_as_it_is() -> None:
    assert markdown("macro_f1") == "macro_f1"
    assert markdown("_a_ *b* [c](d) <i>|`$&") == r"\_a\_ \*b\* \[c\](d) \<i\>\|\`\$\&"
    assert markdown("a\nb") == r"a\\nb"


def test_active_characters_are_escapes_and_scripts_stay_as_they_are() -> None:
    assert plain("a\tb\u202ec\ud800") == r"a\tb\u202ec\ud800"
    for text in ("می\u200cخواهم", "👩\u200d👩", "天安门　", "nai\u0308ve\u00a0é"):
        assert plain(text) == text


@pytest.mark.parametrize("columns", [60, 80, 120, 300])
def test_the_terminal_is_never_wider_than_it_is(
    columns: int, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    print_comparison(made(5, evil=True))
    out = capsys.readouterr().out
    assert max(cell_len(line) for line in out.splitlines()) <= columns
    tables = out.count("┏")
    assert tables == 1 if columns == 300 else tables > 1
    # Cut between columns, never within a number.
    for shown in ("[0.9240, 0.9350]", "12 min 18 s", "34,600", "0.9300", "3-7", "23.46"):
        assert out.count(shown) == out.count(f" {shown} ") > 0, shown
    assert "\x1b[31m" not in out
    assert "floor (floor)" in out
    assert out.index("not told apart") < out.index("To know") < out.index("Left out")


def test_the_usual_table_of_scores_fits_eighty_columns(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_comparison(made(5))
    head = next(line for line in capsys.readouterr().out.splitlines() if "contender" in line)
    assert [cell.strip() for cell in head.strip("┃").split("┃")] == [
        "#",
        "contender",
        "accuracy",
        "95% interval",
        "± seeds",
        "seeds",
    ]


def test_many_verdicts_are_cut_on_the_terminal(capsys: pytest.CaptureFixture) -> None:
    print_comparison(made(10))
    assert " ".join(capsys.readouterr().out.split()).count("and 1 more in the report") == 10
    print_comparison(made(11))
    assert " ".join(capsys.readouterr().out.split()).count("and 7 more in the report") == 11


def test_a_floor_has_no_verdicts_of_its_own(capsys: pytest.CaptureFixture) -> None:
    comparison = made(2)
    comparison.contenders[-1].words = ["worse than all"]
    print_comparison(comparison)
    assert "worse than all" not in capsys.readouterr().out + spell_markdown(comparison).decode()


@pytest.mark.usefixtures("no_plots")
def test_what_is_said_wrong_is_marked(tmp_path: Path) -> None:
    comparison = made(2)
    (two,) = comparison.disagreements
    example = two.for_first[0]
    two.for_first[:] = [replace(example, gold="light/ADJ", first="light/ADJ", second="light/NOUN")]
    two.for_second[:] = [replace(example, gold="a b c", first="a b", second="a <b> c")]
    html = html_of(comparison, tmp_path)
    assert re.findall(r'<mark class="wrong">(.*?)</mark>', html) == ["light/NOUN", "&lt;b&gt;"]


@pytest.mark.usefixtures("no_plots")
def test_a_pair_without_a_score_is_in_no_matrix(tmp_path: Path) -> None:
    comparison = made(3)
    pair = comparison.pairs[0]
    pair.difference = pair.low = pair.high = pair.p = pair.corrected = math.nan
    html = html_of(comparison, tmp_path)
    matrix = html[html.index('<table class="matrix">') :]
    matrix = matrix[: matrix.index("</table>")]
    assert matrix.count("<td></td>") == 1 + 3 + 2, "the corner, the diagonal, and the pair twice"
    assert "nan" not in html


@pytest.mark.parametrize(
    ("metric", "values", "shown"),
    [
        ("accuracy", [0.93456, 0.1], "0.9346"),
        ("accuracy", [1.0, 0.5], "1.0000"),
        ("bleu", [34.5678], "34.57"),
        ("chrf", [3.4567], "3.46"),
        ("rmse", [23.4567, 1.0], "23.46"),
        ("rmse", [-1234567.8], "-1,234,568"),
        ("mae", [0.000123456], "0.0001235"),
        ("r2", [0.0, math.nan], "0.0000"),
        ("r2", [None], "-"),
    ],
)
def test_scores_are_rounded_by_their_size(
    metric: str, values: list[float | None], shown: str
) -> None:
    assert spell_number(values[0], decimals(metric, values)) == shown


def test_other_numbers_are_spelled_for_people() -> None:
    assert [spell_seconds(s) for s in (None, 1.25, 99.4, 99.6, 3599.7, 86_400.0)] == [
        "-",
        "1.2 s",
        "99 s",
        "1 min 40 s",
        "1 h 0 min",
        "24 h 0 min",
    ]
    assert [spell_p(p) for p in (None, 0.5, 0.0123, 0.00345, 1e-9)] == [
        "-",
        "0.500",
        "0.012",
        "0.0034",
        "<0.0001",
    ]
    assert [spell_count(c) for c in (12_345, 12_345.6, 1.234, 0.0, None)] == [
        "12,345",
        "12,300",
        "1.23",
        "0",
        "-",
    ]
    assert [spell_range(e) for e in ([], [4, 4], [7, 3])] == ["-", "4", "3-7"]
    assert spell_interval(0.5, math.nan, 2) == "-"


def test_settings_stand_the_way_they_fit() -> None:
    few = setting_columns(made(3))
    assert few.columns == ["setting", "1 attention", "2 cnn", "3 lstm"]
    assert [cell.text for cell in few.rows[1]] == ["encoder.dim", "16", "32", "48"]
    assert [cell.order for cell in few.rows[1]] == ["encoder.dim", 16, 32, 48]
    many = setting_columns(made(20))
    assert many.columns[:3] == ["#", "contender", "encoder._target_"]
    assert len(many.rows) == 20, "no floors"
    assert many.rows[0][-1].text == "-"
    assert many.rows[1][-1].text == "true"


def test_ranks_count_floors() -> None:
    comparison = made(3)
    comparison.contenders.insert(1, comparison.contenders.pop())
    assert [row[0].text for row in score_columns(comparison).rows] == ["1", "2", "3", "4", "5"]
    assert pair_columns(comparison).rows[0][1].text == "3 cnn"


def test_nested_facts_have_dotted_names() -> None:
    assert environment_rows({"a": {"b": {"c": 1}, "d": []}, "e": None, "f": {}}) == [
        ("a.b.c", "1"),
        ("a.d", "[]"),
        ("e", "null"),
        ("f", "{}"),
    ]


@pytest.mark.usefixtures("no_plots")
def test_reports_of_two_comparisons_are_never_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    html_of(made(2), tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def interrupt(_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "spell_markdown", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_report(made(3), tmp_path, None)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_the_same_comparison_gives_the_same_page(tmp_path: Path) -> None:
    assert html_of(bare(), tmp_path / "a") == html_of(bare(), tmp_path / "b")
