"""Pictures and weights of trained models, as a user asks for them: the command in this process."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import seqtag
from seqtag.batch import Batch, Target
from seqtag.checkpoint import Checkpoint, load_checkpoint
from seqtag.commands import attention as command
from seqtag.commands.front import run_command
from seqtag.data.collation import collate
from seqtag.model import Model
from seqtag.nn.attention import Attention
from seqtag.report.attention_maps import record

TINY = (
    "encoder=attention",
    "encoder.dim=8",
    "encoder.num_heads=2",
    "encoder.num_kv_heads=1",
    "encoder.feedforward_dim=8",
)
SENTENCE = ["the", "dog", "runs"]

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Typed:
    def run(*given: object, stdin: str = "") -> tuple[int, str, str]:
        file = tmp_path / "stdin"
        file.write_text(stdin, encoding="utf-8")
        with file.open(encoding="utf-8") as stream:
            monkeypatch.setattr("sys.stdin", stream)
            status = run_command("attention", [str(word) for word in given])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger that was trained for a few steps."""
    folder = tmp_path_factory.mktemp("trained")
    text = "the\tD\ndog\tN\nruns\tV\n\na\tD\ncat\tN\nsat\tV\n\n" * 4
    for split in ("train", "dev"):
        (folder / f"{split}.conll").write_text(text)
    words = [f"data.{split}={folder / split}.conll" for split in ("train", "dev")]
    words += [*TINY, "data=conll", "embedding.dim=8", "trainer.max_epochs=3", "optimizer.lr=0.02"]
    assert run_command("train", [*words, f"runs={folder}", "device=cpu"]) == 0
    (run,) = (folder / "tagging-attention").iterdir()
    return run


@pytest.fixture
def make(small_config: Callable[..., Any], save_run: Callable[..., Path]) -> Callable[..., Path]:
    """Call it with a task and overrides: a run with an untrained model."""
    return lambda task, *overrides: save_run(small_config(task, *TINY, *overrides))


def batch_of(checkpoint: Checkpoint, tokens: list[str]) -> Batch:
    inputs = checkpoint.inputs
    encoded = inputs.encode({"tokens": tokens})
    return collate([encoded], [0], fields=list(inputs.fields), collate_target=None)


def gathered(model: Model, batch: Batch) -> dict[str, list[tuple[Tensor, Tensor]]]:
    """By module, of each call, its values and what its heads gather of them by the fused path."""
    found: dict[str, list[tuple[Tensor, Tensor]]] = {}
    values: dict[str, Tensor] = {}
    hooks = []
    for name, module in model.named_modules():
        if isinstance(module, Attention):

            def keep(_: nn.Module, __: Any, output: Tensor, name: str = name) -> None:
                values[name] = output

            def end(_: nn.Module, given: tuple[Tensor], name: str = name) -> None:
                found.setdefault(name, []).append((values[name], given[0]))

            hooks.append(module.value.register_forward_hook(keep))
            hooks.append(module.output.register_forward_pre_hook(end))
    with torch.inference_mode():
        model(batch)
    for hook in hooks:
        hook.remove()
    return found


def assert_weights_explain_the_fused_path(checkpoint: Checkpoint, tokens: list[str]) -> set[str]:
    model = checkpoint.model()
    batch = batch_of(checkpoint, tokens)
    with torch.inference_mode():
        alone = model.predict(batch)
    prediction, recorded = record(model, batch)
    assert torch.equal(prediction.value, alone.value)
    gold = Target(value=alone.value, present=torch.ones_like(alone.value, dtype=torch.bool))
    fused = gathered(model, replace(batch, target=gold))
    assert fused.keys() == recorded.keys()
    for name, calls in recorded.items():
        assert len(calls) == len(fused[name])
        for weights, (values, context) in zip(calls, fused[name], strict=True):
            heads = weights.shape[1]
            kv_heads = model.get_submodule(name).num_kv_heads
            # [1, key, kv_heads * head_dim] -> [1, heads, key, head_dim]
            split = values.unflatten(2, (kv_heads, -1)).transpose(1, 2)
            split = split.repeat_interleave(heads // kv_heads, dim=1)
            expected = (weights @ split).transpose(1, 2).flatten(2)
            torch.testing.assert_close(context, expected, atol=1e-6, rtol=1e-5)
            torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    return set(recorded)


def test_recorded_weights_are_those_of_the_fused_path(trained: Path) -> None:
    names = assert_weights_explain_the_fused_path(load_checkpoint(trained), SENTENCE)
    assert names == {f"encoder.layers.{layer}.attention" for layer in (0, 1)}


def test_so_are_those_of_a_decoder_over_the_output_it_found(make) -> None:
    run = make("seq2seq", "search.max_length=4")
    names = assert_weights_explain_the_fused_path(load_checkpoint(run), ["one", "two"])
    assert "head.decoder.layers.0.self_attention" in names
    assert "head.decoder.layers.1.cross_attention" in names


def test_recording_changes_no_prediction(trained: Path) -> None:
    checkpoint = load_checkpoint(trained)
    model = checkpoint.model()
    batch = batch_of(checkpoint, SENTENCE)
    before = model.predict(batch)
    record(model, batch)
    after = model.predict(batch)
    assert torch.equal(before.probabilities, after.probabilities)


def test_each_sequence_has_pictures_and_its_weights_in_full(
    trained: Path, typed: Typed, tmp_path: Path
) -> None:
    folder = tmp_path / "maps"
    status, out, err = typed(trained, f"output={folder}", stdin="the dog runs\n\na\n")
    assert status == 0, err
    assert out.splitlines()[-1] == str(folder)
    names = {path.name for path in folder.iterdir()}
    pictures = {
        f"{n}-encoder-self-attention.{end}" for n in ("0001", "0003") for end in ("png", "svg")
    }
    assert names == {"0001.json", "0002.json", "0003.json", *pictures}
    found = json.loads((folder / "0001.json").read_text())
    assert found["elements"] == SENTENCE
    assert len(found["prediction"]) == 3
    heads = found["attention"]
    assert [(head["layer"], head["head"]) for head in heads] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert {head["part"] for head in heads} == {"encoder self-attention"}
    assert all(head["queries"] == head["keys"] == SENTENCE for head in heads)
    checkpoint = load_checkpoint(trained)
    _, recorded = record(checkpoint.model(), batch_of(checkpoint, SENTENCE))
    for head in heads:
        (weights,) = recorded[head["module"]]
        written = np.array(head["weights"], dtype=np.float32)
        assert np.array_equal(written, weights[0, head["head"] - 1].numpy())
    empty = json.loads((folder / "0002.json").read_text())
    assert (empty["elements"], empty["pictures"], empty["attention"]) == ([], [], [])
    assert "empty" in empty["note"]


def test_the_predictions_are_those_of_predict(trained: Path, typed: Typed) -> None:
    _, out, _ = typed(trained, "format=[]", stdin="a cat sat\n")
    found = json.loads((Path(out.splitlines()[-1]) / "0001.json").read_text())
    (answer,) = seqtag.load(trained, device="cpu").predict(["a cat sat"])
    assert found["prediction"] == answer.value


def test_a_new_folder_in_the_run_is_the_default(trained: Path, typed: Typed) -> None:
    folders = [
        Path(typed(trained, "format=[]", stdin="the\n")[1].splitlines()[-1]) for _ in range(2)
    ]
    assert folders[0] != folders[1]
    assert {folder.parent for folder in folders} == {trained / "attention"}
    assert [path.name for path in folders[0].iterdir()] == ["0001.json"]


def test_new_sequences_show_output_against_input(make, typed: Typed, tmp_path: Path) -> None:
    run = make("seq2seq", "search.max_length=4")
    folder = tmp_path / "maps"
    status, _, err = typed(run, f"output={folder}", "format=svg", stdin="one two\n")
    assert status == 0, err
    found = json.loads((folder / "0001.json").read_text())
    heads = {head["part"]: head for head in found["attention"]}
    cross = heads["decoder cross-attention"]
    assert cross["keys"] == ["one", "two", "⟨end⟩"]
    symbols = cross["queries"]
    assert [symbol for symbol in symbols if symbol != "⟨end⟩"] == found["prediction"].split()
    assert np.array(cross["weights"]).shape == (len(symbols), 3)
    own = heads["decoder self-attention"]
    assert (own["queries"], own["keys"]) == (symbols, ["⟨start⟩", *symbols[:-1]])
    assert not np.triu(own["weights"], 1).any()
    assert (folder / "0001-decoder-cross-attention.svg").is_file()


def test_pooling_shows_which_elements_counted(make, typed: Typed) -> None:
    run = make("classification", "head/pooling=attention", "head.pooling.num_heads=2")
    status, out, err = typed(run, "format=[]", stdin="good dog\n")
    assert status == 0, err
    found = json.loads((Path(out.splitlines()[-1]) / "0001.json").read_text())
    pooled = [head for head in found["attention"] if head["part"] == "pooling"]
    assert [head["keys"] for head in pooled] == [["good", "dog"]] * 2
    assert np.array(pooled[0]["weights"]).shape == (1, 2)


def test_vectors_are_numbered() -> None:
    assert command.elements({"vectors": [[1.0], [2.0]]}) == ["1", "2"]
    assert command.elements({"tokens": ["a"]}) == ["a"]


def test_what_is_left_out_and_what_is_too_long_is_said(trained: Path, typed: Typed) -> None:
    status, _, err = typed(
        trained, "limit=1", "longest=2", "format=svg", stdin="the dog runs\na\n\nthe\n"
    )
    assert status == 0
    assert "stopped at limit=1: further sequences, if any, were left out" in err
    assert "sequences with more than longest=2 tokens: 1" in err


def test_a_pipe_that_never_ends_is_read_up_to_the_limit(
    trained: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = 0

    class Endless:
        """Stands for stdin; a command that goes on reading is stopped by the error."""

        @property
        def buffer(self) -> "Endless":
            return self

        def readline(self, _: int = -1) -> bytes:
            nonlocal lines
            lines += 1
            assert lines <= 100, "still reading"
            return b"the dog\n"

    monkeypatch.setattr("sys.stdin", Endless())
    assert run_command("attention", [str(trained), "limit=2", "format=[]"]) == 0
    out, err = capfd.readouterr()
    folder = Path(out.splitlines()[-1])
    assert sorted(path.name for path in folder.iterdir()) == ["0001.json", "0002.json"]
    assert "stopped at limit=2" in err
    assert lines <= 3, "a pipe that waits would be waited for"


def test_the_model_is_built_once(
    trained: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    from_config = Model.from_config

    def counted(*given: Any) -> Model:
        built.append(from_config(*given))
        return built[-1]

    monkeypatch.setattr(Model, "from_config", counted)
    assert typed(trained, "format=[]", stdin="the\n")[0] == 0
    assert len(built) == 1
    assert seqtag.load(trained, device="cpu").model is built[1]


def test_characters_that_no_font_has_are_named(trained: Path, typed: Typed) -> None:
    status, _, err = typed(trained, "format=svg", stdin="\U000e0fff \ufdd0 \U000118ff\n")
    assert status == 0
    assert "no installed font has" in err
    assert "apt-get install" in err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["format=gif"], "format has gif; there are png, svg"),
        (["input=none.txt"], "none.txt"),
        (["output={run}"], "is not empty, and nothing is overwritten"),
        ([], "stdin holds no sequence"),
    ],
)
def test_errors_take_a_line(trained: Path, typed: Typed, given: list[str], message: str) -> None:
    status, out, err = typed(trained, *(word.format(run=trained) for word in given))
    assert (status, out) == (1, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("key", ["limit", "longest"])
def test_counts_are_at_least_one(key: str) -> None:
    config = {"format": "png", "limit": 1, "longest": 1}
    assert command._check(config) == ["png"]
    with pytest.raises(ValueError, match=f"{key} is 0; it must be at least 1"):
        command._check({**config, key: 0})


def test_output_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file; name a folder"):
        command._asked_folder(str(tmp_path / "file"))


def test_a_model_without_attention_is_refused(small_config, save_run, typed: Typed) -> None:
    status, _, err = typed(save_run(small_config("tagging")), stdin="the\n")
    assert status == 1
    assert "holds no attention to show: its encoder is window" in err
    assert len(err.splitlines()) == 1


def test_what_was_written_before_an_interruption_is_whole(
    trained: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spell, calls = command.spell, iter([False, True])

    def interrupted(*given: Any) -> bytes:
        if next(calls):
            raise KeyboardInterrupt
        return spell(*given)

    monkeypatch.setattr(command, "spell", interrupted)
    folder = tmp_path / "maps"
    status, _, _ = typed(trained, f"output={folder}", "format=svg", stdin="the dog\na\n")
    assert status == 130
    assert json.loads((folder / "0001.json").read_text())["elements"] == ["the", "dog"]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_lone_surrogates_and_narrow_numbers_survive_json() -> None:
    about = {"elements": ["\ud800"]}
    assert json.loads(command.spell(about, []))["elements"] == ["\ud800"]
    assert command._shortest(np.array([[0.1, 1 / 3]], dtype=np.float32)) == [[0.1, 0.33333334]]
