"""The embedded samples are what their scripts write, and what their READMEs say of them is true."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA, SCRIPTS = ROOT / "data", ROOT / "scripts"
SPLITS = ("train", "dev", "test")
ENDINGS = {
    "pos": "conllu",
    "purchase": "conll",
    "digits": "jsonl",
    "hydrophilic": "csv",
    "pronounce": "tsv",
}
WRITERS = {"pos": "as_conllu", "purchase": "as_columns", "digits": "as_jsonl"}
NEEDS_NOTHING_ELSE = ("pos", "purchase")


@cache
def script(sample: str) -> ModuleType:
    path = SCRIPTS / f"make_{sample}_sample.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def drawn(sample: str) -> dict[str, list]:
    """What the script draws; what needs a source that is not here comes from the files."""
    if sample == "digits":
        pytest.importorskip("sklearn")
    if sample == "pronounce":
        return {split: read_pronounced(DATA / sample / f"{split}.tsv") for split in SPLITS}
    if sample == "hydrophilic":
        return {split: read_csv(DATA / sample / f"{split}.csv") for split in SPLITS}
    return script(sample).draw_splits()


@cache
def measured(sample: str) -> dict[str, float]:
    return script(sample).measure(drawn(sample))


@cache
def stated(sample: str) -> dict[str, float]:
    """The rows "| `name` | value | ..." of the README's tables."""
    text = (DATA / sample / "README.md").read_text(encoding="utf-8")
    return {
        name: float(value)
        for name, value in re.findall(r"^\| `(\w+)` \| (-?[\d.]+) \|", text, re.M)
    }


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def read_pronounced(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        (word, tuple(symbols.split())) for word, symbols in (line.split("\t") for line in lines)
    ]


def blocks(path: Path) -> list[list[str]]:
    return [block.split("\n") for block in path.read_text(encoding="utf-8").split("\n\n")[:-1]]


def run(sample: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / f"make_{sample}_sample.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("sample", WRITERS)
def test_files_are_byte_for_byte_what_the_script_writes(sample: str) -> None:
    for split, rows in drawn(sample).items():
        arguments = (split, rows) if sample == "pos" else (rows,)
        text = getattr(script(sample), WRITERS[sample])(*arguments)
        assert (DATA / sample / f"{split}.{ENDINGS[sample]}").read_bytes() == text.encode()


@pytest.mark.parametrize("sample", ENDINGS)
def test_readme_states_what_is_measured(sample: str) -> None:
    # Scores of scikit-learn's classifiers move a little from version to version.
    tolerance = 0.011 if sample == "digits" else 1e-9
    facts = {name: stated(sample)[name] for name in measured(sample)}
    assert facts == pytest.approx(measured(sample), abs=tolerance)
    # Only the marks of the published model need more than the files to compute.
    assert all(name.startswith("published_") for name in stated(sample).keys() - facts.keys())


@pytest.mark.parametrize("sample", ENDINGS)
def test_files_are_small_and_the_readme_names_the_command(sample: str) -> None:
    files = list((DATA / sample).iterdir())
    assert sum(path.stat().st_size for path in files) < 2_000_000
    assert {f"{split}.{ENDINGS[sample]}" for split in SPLITS} <= {path.name for path in files}
    text = (DATA / sample / "README.md").read_text(encoding="utf-8")
    assert f"`python scripts/make_{sample}_sample.py" in text


@pytest.mark.parametrize("sample", ENDINGS)
def test_splits_share_no_input(sample: str) -> None:
    inputs = {
        "pos": lambda sentence: " ".join(form for form, _, _ in sentence),
        "purchase": lambda session: " ".join(event for event, _ in session),
        "digits": lambda digit: str(digit["rows"]),
        "hydrophilic": lambda row: row["smiles"],
        "pronounce": lambda row: row[0],
    }[sample]
    train, dev, test = ({inputs(row) for row in drawn(sample)[split]} for split in SPLITS)
    assert not train & dev
    assert not train & test
    assert not dev & test


@pytest.mark.parametrize("sample", NEEDS_NOTHING_ELSE)
def test_check_refuses_a_changed_file(
    sample: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = measured(sample).keys()
    monkeypatch.setattr(script(sample), "LARGE_SAMPLE", 200)  # quick; the numbers are tested above
    new = tmp_path / "new"
    monkeypatch.setattr(sys, "argv", ["make", "--output", str(new)])
    script(sample).main()
    assert json.loads(capsys.readouterr().out).keys() == names
    changed = new / f"dev.{ENDINGS[sample]}"
    assert changed.read_bytes() == (DATA / sample / changed.name).read_bytes()
    changed.write_bytes(changed.read_bytes() + b"\n")
    monkeypatch.setattr(sys, "argv", ["make", "--output", str(new), "--check"])
    with pytest.raises(SystemExit, match=re.escape(str(changed))):
        script(sample).main()


@pytest.mark.parametrize("split", SPLITS)
def test_a_sentence_settles_its_tags(split: str) -> None:
    for block in blocks(DATA / "pos" / f"{split}.conllu"):
        assert re.fullmatch(rf"# sent_id = {split}-\d+", block[0])
        rows = [line.split("\t") for line in block[2:]]
        assert all(len(row) == 10 and row[4:] == ["_"] * 6 for row in rows)
        assert [row[0] for row in rows] == [str(place) for place in range(1, len(rows) + 1)]
        forms = [row[1] for row in rows]
        assert block[1] == f"# text = {' '.join(forms)}"
        assert script("pos").tag_sentence(forms) == [row[3] for row in rows]


def test_the_kinds_of_list_differ_in_the_deciding_word_alone() -> None:
    # What the ceiling of a window rests on: with nouns and verbs swapped the rules are the same.
    grammar = script("pos").GRAMMAR
    rules = [" ".join(rule) for rule in grammar.rules["LIST"] + grammar.rules["NOUNS"]]
    other = [" ".join(rule) for rule in grammar.rules["LIST"] + grammar.rules["VERBS"]]
    swap = {"NOUN": "VERB", "VERB": "NOUN"}
    swapped = [re.sub("NOUN|VERB", lambda found: swap[found[0]], rule) for rule in other]
    assert sorted(rules) == sorted(swapped)
    nouns, verbs = grammar.words["LISTED_NOUN"], grammar.words["LISTED_VERB"]
    assert [form for form, _, _ in nouns] == [form for form, _, _ in verbs]


def test_ceilings_leave_room_between_a_word_a_window_and_a_sentence() -> None:
    ceilings = measured("pos")
    assert 0.85 < ceilings["word_ceiling"] < 0.92
    assert 0.95 < ceilings["window_ceiling"] < 0.97
    assert ceilings["sentence_ceiling"] == ceilings["sentence_ceiling_test"] == 1.0
    assert ceilings["nearest_decision"] > 2


def test_a_grammar_that_cannot_be_read_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "grammar.txt"
    path.write_text("NOUN = NOUN dog\nSENTENCE -> many NOUN\n")
    with pytest.raises(ValueError, match="SENTENCE -> many NOUN"):
        script("pos").Grammar(path)
    path.write_text("NOUN = NOUN dog\nSENTENCE -> 1 NOUN VERB\n")
    with pytest.raises(ValueError, match="VERB"):
        script("pos").Grammar(path)


def test_a_chance_is_the_sum_that_the_readme_states() -> None:
    events = ["from_mail", "view_rug", "shipping", "add_to_cart", "coupon", "pay_page", "help"]
    scores = [-0.3, -0.3, -1.5, -0.3, 2.1, 2.9, 1.6]
    expected = [0.1 + 0.8 / (1 + 2.718281828459045**-score) for score in scores]
    assert script("purchase").chances(events) == pytest.approx(expected)


@pytest.mark.parametrize("split", SPLITS)
def test_a_purchase_target_is_the_chance_within_the_noise(split: str) -> None:
    for block in blocks(DATA / "purchase" / f"{split}.conll"):
        rows = [line.split("\t") for line in block]
        truth = script("purchase").chances([event for event, _ in rows])
        assert all(
            abs(float(target) - chance) < 5 * script("purchase").NOISE
            for (_, target), chance in zip(rows, truth, strict=True)
        )


def test_hydrophilic_rows_follow_the_cut_and_the_split_rule() -> None:
    for split, rows in drawn("hydrophilic").items():
        for row in rows:
            assert list(row) == ["name", "smiles", "solubility", "hydrophilic"]
            assert row["hydrophilic"] == ("yes" if float(row["solubility"]) >= -3 else "no")
            assert row["smiles"] == row["smiles"].strip()
            assert script("hydrophilic").split_of(row["smiles"]) == split


def test_hydrophilic_script_reads_the_published_columns(tmp_path: Path) -> None:
    measured_column = script("hydrophilic").MEASURED
    predicted_column = script("hydrophilic").PREDICTED
    table = tmp_path / "table.csv"
    table.write_text(
        f"Compound ID,{predicted_column},{measured_column},smiles\n"
        '"1,4-Dioxane ",-0.5,0.009000000000000001,C1COCCO1 \n'
        "Hexane,-2.5,-3.0,CCCCCC\n"
    )
    rows = [script("hydrophilic").as_sample(row) for row in script("hydrophilic").read_table(table)]
    assert [list(row.values()) for row in rows] == [
        ["1,4-Dioxane", "C1COCCO1", "0.009", "yes"],
        ["Hexane", "CCCCCC", "-3.0", "yes"],
    ]
    assert '"1,4-Dioxane",C1COCCO1,0.009,yes\n' in script("hydrophilic").as_csv(rows)


@pytest.mark.parametrize(
    ("text", "message"),
    [("name,smiles\na,C\n", "no column"), (None, "No such file")],
)
def test_hydrophilic_script_says_what_is_wrong(
    text: str | None, message: str, tmp_path: Path
) -> None:
    source = tmp_path / "source.csv"
    if text is not None:
        source.write_text(text)
    answer = run("hydrophilic", str(source), "--output", str(tmp_path))
    assert answer.returncode == 1
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_digit_is_eight_rows_of_eight_brightnesses() -> None:
    for split in SPLITS:
        for line in (DATA / "digits" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines():
            image = json.loads(line)
            assert image["digit"] in list("0123456789")
            assert [len(row) for row in image["rows"]] == [8] * 8
            assert all(0 <= pixel <= 16 for row in image["rows"] for pixel in row)


def test_pronounced_words_are_plain_and_in_the_part_of_their_family() -> None:
    families = {split: set() for split in SPLITS}
    for split, rows in drawn("pronounce").items():
        words = [word for word, _ in rows]
        assert words == sorted(set(words))
        for word, symbols in rows:
            assert re.fullmatch("[a-z]{3,12}", word)
            assert all(re.fullmatch("[A-Z]{1,2}", symbol) for symbol in symbols)
            assert script("pronounce").split_of(word) == split
            families[split].add(script("pronounce").family_of(word))
        text = (DATA / "pronounce" / f"{split}.tsv").read_text(encoding="utf-8")
        assert script("pronounce").as_tsv(rows) == text
    assert not families["train"] & (families["dev"] | families["test"])


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("conne", ["connect", "connected", "connection", "connections", "connector"]),
        ("wed", ["wed", "wedding", "weds", "wedded"]),
        ("vot", ["vote", "voter", "voting", "votes"]),
        ("lik", ["like", "likely"]),
        ("see", ["see", "seed"]),
        ("all", ["all"]),
    ],
)
def test_an_ending_does_not_part_a_family(family: str, words: list[str]) -> None:
    assert {script("pronounce").family_of(word) for word in words} == {family}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """The four files that choose and pronounce, with one word for each rule."""
    make = script("pronounce")
    (tmp_path / make.PRONUNCIATIONS).write_text(
        "berlin B ER0 L IH1 N\ncat K AE1 T # animal\ncats K AE1 T S\ncrook K R UH1 K\n"
        "curse K ER1 S\nit's IH1 T S\nlive L AY1 V\nlive(2) L IH1 V\nox AA1 K S\n"
        "rare R EH1 R\nsilent S AY1 L AH0 N T\n"
    )
    (tmp_path / make.HEADWORDS).write_text(
        "11\nBerlin/M\ncat/MS\ncrook/!\ncurse\nit's\nlive/S\nox\nrare/Y\nsilent\nunspoken\n"
    )
    (tmp_path / make.FREQUENCIES).write_text(
        "\ufeffrare 1\nberlin 9\ncat 8\ncats 8\ncrook 8\ncurse 8\nit's 8\nlive 8\nox 8\n"
        "silent 7\nunspoken 6\n"
    )
    (tmp_path / make.UNWANTED).write_text("curse\n")
    return tmp_path


def test_frequent_headwords_with_one_pronunciation_are_chosen(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen() -> dict[str, tuple[str, ...]]:
        return dict(
            row for rows in script("pronounce").draw_splits(sources).values() for row in rows
        )

    cat, silent = ("K", "AE", "T"), ("S", "AY", "L", "AH", "N", "T")
    assert chosen() == {"cat": cat, "silent": silent, "rare": ("R", "EH", "R")}
    monkeypatch.setattr(script("pronounce"), "WORDS", 2)
    assert chosen() == {"cat": cat, "silent": silent}


def test_pronounce_script_writes_checks_and_says_what_is_wrong(
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    new = sources / "new"
    monkeypatch.setattr(script("pronounce"), "measure", lambda splits: {"parts": len(splits)})
    monkeypatch.setattr(sys, "argv", ["make", str(sources), "--output", str(new)])
    script("pronounce").main()
    assert json.loads(capsys.readouterr().out) == {"parts": 3}
    written = "".join((new / f"{split}.tsv").read_text() for split in SPLITS)
    assert sorted(written.splitlines()) == ["cat\tK AE T", "rare\tR EH R", "silent\tS AY L AH N T"]
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--check"])
    script("pronounce").main()
    (new / "dev.tsv").write_text("cat\tD AO G\n")
    with pytest.raises(SystemExit, match=re.escape(str(new / "dev.tsv"))):
        script("pronounce").main()
    for name, text, message in (
        (script("pronounce").PRONUNCIATIONS, "cat K AE1 T\ndog\n", "line 2"),
        (script("pronounce").FREQUENCIES, "cat 8\ndog many\n", "line 2"),
        (script("pronounce").HEADWORDS, None, "cannot read .*No such file"),
    ):
        path = sources / name
        kept = path.read_bytes()
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        with pytest.raises(SystemExit, match=message):
            script("pronounce").main()
        path.write_bytes(kept)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("", "", 0), ("AB", "", 2), ("", "A", 1), ("ABC", "ABD", 1), ("ABCD", "BCDE", 2)],
)
def test_an_edit_distance_can_be_counted(first: str, second: str, distance: int) -> None:
    assert script("pronounce").edit_distance(tuple(first), tuple(second)) == distance


def test_letters_are_spelled_out_as_they_sound_most_often() -> None:
    train = [
        ("tax", ("T", "AE", "K", "S")),
        ("cat", ("K", "AE", "T")),
        ("ate", ("AE", "T")),
        ("ace", ("AE", "K")),
        ("tact", ("T", "AE", "K", "T")),
    ]
    sounds = script("pronounce").spell_out(train)
    assert sounds == {"t": ("T",), "a": ("AE",), "x": ("K", "S"), "c": ("K",), "e": ()}


@pytest.mark.benchmark
@pytest.mark.skipif(
    "SEQTAG_BENCHMARK_DATA" not in os.environ,
    reason="SEQTAG_BENCHMARK_DATA names the folder of the data sets that are not in the project",
)
def test_pronunciations_are_those_of_the_dictionary() -> None:
    folder = Path(os.environ["SEQTAG_BENCHMARK_DATA"]) / "g2p_cmudict_sample"
    known = script("pronounce").read_pronunciations(folder / "cmudict.sample1000.txt")
    ours = dict(row for rows in drawn("pronounce").values() for row in rows)
    assert len(common := known.keys() & ours.keys()) > 10
    assert all(known[word] == ours[word] for word in common)
