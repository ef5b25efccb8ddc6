import os
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from seqtag.checkpoint import BEST, LAST, find_checkpoint, load_checkpoint
from seqtag.configuration import options
from seqtag.datamodule import DataModule
from seqtag.model import Model
from seqtag.predictor import Predictor


def rewrite(file: Path, change) -> Path:
    """Change the content of a checkpoint in place."""
    content = torch.load(file, weights_only=True)
    change(content)
    torch.save(content, file)
    return file


@pytest.fixture
def run(small_config, save_run) -> Path:
    return save_run(small_config("tagging"))


class TestContent:
    def test_is_tensors_and_plain_values_only(self, run: Path) -> None:
        content = torch.load(run / BEST, weights_only=True)
        assert content["seqtag"]["target"]["labels"] == ["D", "N", "V"]
        assert content["seqtag"]["config"]["task"]["_target_"].endswith("Tagging")

    @pytest.mark.parametrize("task", ["tagging", "classification", "regression"])
    def test_gives_back_the_same_model(self, small_config, save_run, task: str) -> None:
        config = small_config(task)
        folder = save_run(config)
        checkpoint = load_checkpoint(folder)
        assert checkpoint.path == (folder / BEST).resolve()
        assert checkpoint.epoch == 4
        assert checkpoint.config == config
        model = checkpoint.model()
        assert not model.training
        saved = torch.load(folder / BEST, weights_only=True)["state_dict"]
        restored = {f"model.{name}": value for name, value in model.state_dict().items()}
        assert restored.keys() == saved.keys()
        assert all(restored[name].equal(saved[name]) for name in saved)

    @pytest.mark.parametrize("spelling", options("embedding/spelling"))
    def test_predicts_what_the_model_predicted(self, small_config, save_run, spelling: str) -> None:
        config = small_config("tagging", f"embedding/spelling={spelling}")
        folder = save_run(config)
        data = DataModule(config)
        data.read_all(test=False)
        batch = next(iter(data.val_dataloader()))
        torch.manual_seed(config["seed"])
        model = Model.from_config(config, data.inputs.fields, data.target).eval()
        expected = model.predict(batch).probabilities
        for split in ("train", "dev", "test"):
            Path(config["data"][split]).unlink()
        checkpoint = load_checkpoint(folder)
        assert list(checkpoint.inputs.fields) == list(data.inputs.fields)
        assert checkpoint.model().predict(batch).probabilities.equal(expected)
        (answer,) = Predictor(checkpoint, device="cpu").predict(
            ["the cat runs"], probabilities=True
        )
        row = batch.rows.tolist().index(0)
        found = [list(shares.values()) for shares in answer.probabilities]
        torch.testing.assert_close(torch.tensor(found), expected[row, :3])

    def test_needs_neither_training_data_nor_configs(
        self, small_config, save_run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = small_config("tagging")
        folder = save_run(config)
        for split in ("train", "dev", "test"):
            Path(config["data"][split]).unlink()
        monkeypatch.setattr("seqtag.configuration._installed", None)
        assert load_checkpoint(folder).model() is not None

    def test_other_states_than_the_models_are_left_alone(self, run: Path) -> None:
        def add(content: dict[str, Any]) -> None:
            content["state_dict"]["metric.total"] = torch.zeros(3)
            content["optimizer_states"] = [{"state": {}}]

        rewrite(run / BEST, add)
        assert load_checkpoint(run).model() is not None


class TestFinding:
    def test_a_run_directory_means_its_best_checkpoint_or_else_its_last(self, run: Path) -> None:
        (run / LAST).write_bytes((run / BEST).read_bytes())
        assert find_checkpoint(run).name == BEST
        (run / BEST).unlink()
        assert find_checkpoint(str(run)).name == LAST
        assert find_checkpoint(run / LAST).name == LAST

    def test_nothing_there_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"no run directory or checkpoint at .*nowhere"):
            find_checkpoint(tmp_path / "nowhere")

    def test_a_folder_that_is_no_run_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"is not a run directory: it holds no best\.ckpt$"):
            find_checkpoint(tmp_path)

    @pytest.mark.parametrize("parent", ["", "tagging-window"])
    def test_a_folder_of_runs_is_answered_with_the_newest_one(
        self, tmp_path: Path, parent: str
    ) -> None:
        for number, name in enumerate(("b", "c", "a")):
            folder = tmp_path / parent / name
            folder.mkdir(parents=True)
            (folder / BEST).touch()
            os.utime(folder / BEST, (number, number))
        with pytest.raises(ValueError, match=r"did you mean .*a\?$"):
            find_checkpoint(tmp_path)


class TestDamage:
    @pytest.mark.parametrize("keep", [0, 1, 100, 0.5, -1])
    def test_a_file_cut_off_is_refused(self, run: Path, keep: float) -> None:
        whole = (run / BEST).read_bytes()
        size = int(len(whole) * keep) if isinstance(keep, float) else keep
        (run / BEST).write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"best\.ckpt cannot be read as a checkpoint"):
            load_checkpoint(run)

    def test_other_bytes_are_refused_without_a_warning(self, tmp_path: Path, recwarn) -> None:
        file = tmp_path / "some.ckpt"
        source = random.Random(0)
        for start in (b"", b"\x80\x02", b"PK\x03\x04", b"{}"):
            for _ in range(50):
                file.write_bytes(start + source.randbytes(source.randrange(60)))
                with pytest.raises(ValueError, match=r"some\.ckpt cannot be read"):
                    load_checkpoint(file)
        assert len(recwarn) == 0

    @pytest.mark.filterwarnings("ignore")
    def test_changed_bytes_never_end_in_another_error(self, run: Path) -> None:
        whole = (run / BEST).read_bytes()
        source = random.Random(0)
        directory = whole.index(b"PK\x01\x02")
        messages = []
        for _ in range(60):
            changed = bytearray(whole)
            for _ in range(8):
                # Names and offsets: what torch's own checksums do not cover.
                changed[source.randrange(directory, len(whole))] = source.randrange(256)
            (run / BEST).write_bytes(changed)
            try:
                load_checkpoint(run)
            except ValueError as error:
                messages.append(str(error))
        assert messages
        assert all("cannot be read" in message for message in messages)

    def test_code_in_a_file_is_not_run(self, tmp_path: Path) -> None:
        class Trap:
            def __reduce__(self):
                return (Path.touch, (tmp_path / "sprung",))

        torch.save({"state_dict": {}, "seqtag": Trap()}, tmp_path / "bad.ckpt")
        with pytest.raises(ValueError, match="cannot be read"):
            load_checkpoint(tmp_path / "bad.ckpt")
        assert not (tmp_path / "sprung").exists()

    @pytest.mark.parametrize(
        "content", [{"state_dict": {}}, {"seqtag": {"format": 1}}, torch.zeros(3), [1, 2]]
    )
    def test_a_torch_file_of_something_else_is_refused(self, tmp_path: Path, content) -> None:
        torch.save(content, tmp_path / "other.pt")
        with pytest.raises(ValueError, match=r"other\.pt is a torch file, but not a checkpoint of"):
            load_checkpoint(tmp_path / "other.pt")

    def test_another_format_is_refused_with_both_numbers(self, run: Path) -> None:
        rewrite(run / BEST, lambda content: content["seqtag"].update(format=99))
        with pytest.raises(ValueError, match="has checkpoint format 99; this version reads format"):
            load_checkpoint(run)
        rewrite(run / BEST, lambda content: content["seqtag"].pop("format"))
        with pytest.raises(ValueError, match="has checkpoint format None"):
            load_checkpoint(run)


class TestMismatch:
    def test_weights_of_another_size_are_refused_by_name(self, run: Path) -> None:
        checkpoint = load_checkpoint(run)
        checkpoint.config["encoder"]["dim"] = 4
        with pytest.raises(ValueError, match=r"best\.ckpt do not fit the config: .*encoder\."):
            checkpoint.model()

    def test_missing_weights_are_refused_by_name(self, run: Path) -> None:
        checkpoint = load_checkpoint(run)
        del checkpoint.weights["head.readout.linear.bias"]
        with pytest.raises(
            ValueError, match=r"do not fit the config: .*head\.readout\.linear\.bias"
        ):
            checkpoint.model()

    @pytest.mark.parametrize("target", ["os.system", "torch.hub.load", "seqtag.model.nn.Linear"])
    def test_a_config_that_would_build_something_else_is_refused(
        self, run: Path, target: str
    ) -> None:
        rewrite(
            run / BEST, lambda content: content["seqtag"]["config"]["head"].update(_target_=target)
        )
        with pytest.raises(ValueError, match=f"head: '{target}'"):
            load_checkpoint(run).model()


def test_a_flipped_bit_is_noticed(small_config, save_run, tmp_path: Path) -> None:
    file = save_run(small_config("tagging")) / "best.ckpt"
    content = bytearray(file.read_bytes())
    load_checkpoint(file)
    content[
        content.index(load_checkpoint(file).weights["head.readout.linear.weight"].numpy().tobytes())
    ] ^= 1
    broken = tmp_path / "broken.ckpt"
    broken.write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read as a checkpoint"):
        load_checkpoint(broken)
