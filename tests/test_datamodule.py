import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from seqtag.batch import Batch
from seqtag.data.spelling import hashes
from seqtag.datamodule import DataModule

TWENTY = "".join(f"w{n}\tL{n % 3}\n\n" for n in range(20))


def read(config: dict[str, Any]) -> DataModule:
    data = DataModule(config)
    data.read_all(test=True)
    return data


def tokens(data: DataModule, split: str) -> list[list[str]]:
    return [row["tokens"] for row in data.splits[split].rows]


def content(batch: Batch) -> tuple[Any, ...]:
    assert batch.target is not None
    inputs = {name: values.tolist() for name, values in batch.inputs.items()}
    target = batch.target.value.tolist(), batch.target.present.tolist()
    return inputs, batch.layout.lengths.tolist(), target, batch.rows.tolist()


def epoch(loader: DataLoader[Batch], number: int) -> list[tuple[Any, ...]]:
    loader.sampler.set_epoch(number)  # type: ignore[attr-defined]
    return [content(batch) for batch in loader]


def trainer(*, global_rank: int = 0, world_size: int = 1, global_step: int = 0) -> Any:
    return SimpleNamespace(
        global_rank=global_rank,
        world_size=world_size,
        global_step=global_step,
        accumulate_grad_batches=1,
        strategy=SimpleNamespace(root_device=torch.device("cpu")),
    )


class TestSplits:
    def test_are_read_encoded_and_counted(self, small_config) -> None:
        data = read(small_config("tagging"))
        assert list(data.splits) == ["train", "dev", "test"]
        assert tokens(data, "dev") == [["the", "cat", "runs"], ["a", "fish"]]
        assert data.target.labels == ("D", "N", "V")
        assert data.target.counts == (3, 3, 3)
        assert data.splits["dev"].counts == {
            "rows": 2,
            "elements": 5,
            "longest": 3,
            "unknown": 1,
            "missing": 0,
            "empty": 0,
        }
        assert data.notes == []

    def test_batches_hold_the_numbers_of_their_rows(self, small_config) -> None:
        data = read(small_config("tagging"))
        # Ids by frequency, then name: dog runs the | a cat sat.
        (batch,) = data.val_dataloader()
        inputs, lengths, (value, present), rows = content(batch)
        assert rows == [1, 0]
        assert lengths == [2, 3]
        assert inputs["word"] == [[5, 1, 0], [4, 6, 3]]
        assert value == [[0, 1, 0], [0, 1, 2]]
        assert present == [[True, True, False], [True] * 3]

    def test_vectors_and_several_numbers_keep_their_shapes(self, small_config) -> None:
        text = (
            '{"text": [[1, 5], [3, 5]], "label": [[1, 2], [3, null]]}\n'
            '{"text": [[1, 5]], "label": null}\n'
        )
        files = {"train": text, "dev": text}
        data = read(small_config("token_regression", files=files, data="jsonl"))
        (batch,) = data.val_dataloader()
        inputs, lengths, (value, present), rows = content(batch)
        assert (rows, lengths) == ([1, 0], [1, 2])
        # The means are 5/3 and 5, the deviation of 1, 3, 1 is the root of 8/9; 5 is constant.
        low, high = -(0.5**0.5), 2**0.5
        expected = torch.tensor([[[low, 0], [0, 0]], [[low, 0], [high, 0]]])
        torch.testing.assert_close(torch.tensor(inputs["vectors"]), expected)
        assert value == [[[0, 0], [0, 0]], [[1, 2], [3, 0]]]
        assert present == [[[False] * 2] * 2, [[True, True], [True, False]]]
        assert data.splits["dev"].counts["missing"] == 3

    def test_vectors_far_from_zero_lose_nothing_before_they_are_standardised(
        self, small_config
    ) -> None:
        text = '{"text": [[1000000001]], "label": 1}\n{"text": [[1000000003]], "label": 2}\n'
        data = read(small_config("regression", files={"train": text, "dev": text}, data="jsonl"))
        (batch,) = data.val_dataloader()
        assert batch.inputs["vectors"].tolist() == [[[-1.0]], [[1.0]]]

    def test_words_come_with_their_spelling_where_it_is_asked_for(self, small_config) -> None:
        data = read(small_config("tagging", "embedding/spelling=both"))
        (batch,) = data.val_dataloader()
        words, affixes, characters = batch.inputs.values()
        assert list(batch.inputs) == ["word", "affixes", "characters"]
        assert words.tolist() == [[5, 1, 0], [4, 6, 3]]
        # "a fish" and "the cat runs"; hashes are long.
        assert affixes.shape == (2, 3, 13)
        assert affixes[:, :, 0].tolist() == [
            [hashes("a")[0], hashes("fish")[0], 0],
            [hashes(word)[0] for word in ("the", "cat", "runs")],
        ]
        # Training has t four times, a and s thrice, d e g h n o r u twice; c, f, i are unknown.
        assert characters.shape == (2, 3, 20)
        assert characters[..., :5].tolist() == [
            [[3, 0, 0, 0, 0], [1, 1, 4, 8, 0], [0, 0, 0, 0, 0]],
            [[2, 8, 6, 0, 0], [1, 3, 2, 0, 0], [11, 12, 9, 4, 0]],
        ]
        assert affixes.dtype == characters.dtype == torch.int64
        assert list(read(small_config("tagging", "embedding/spelling=none")).inputs.fields) == [
            "word"
        ]

    def test_what_is_no_word_has_no_spelling(self, small_config) -> None:
        for tokenizer, fields in (
            ("characters", ["word"]),
            ("smiles", ["word"]),
            ("whitespace", ["word", "affixes", "characters"]),
        ):
            config = small_config(
                "classification", "embedding/spelling=both", f"data/input_tokenizer={tokenizer}"
            )
            assert list(read(config).inputs.fields) == fields
        text = '{"text": [[1], [3]], "label": 1}\n'
        config = small_config(
            "regression",
            "embedding/spelling=both",
            files={"train": text, "dev": text},
            data="jsonl",
        )
        assert list(read(config).inputs.fields) == ["vectors"]

    def test_every_task_reads_its_files(self, small_config) -> None:
        for task, rows in (("classification", 5), ("regression", 4), ("token_regression", 3)):
            data = read(small_config(task))
            assert data.splits["train"].counts["rows"] == rows
            batch = next(iter(data.train_dataloader()))
            assert batch.target is not None
            assert batch.target.present[batch.target.present].numel() > 0

    def test_one_split_is_read_with_what_training_knew(self, small_config) -> None:
        config = small_config("tagging")
        whole = read(config)
        alone = DataModule(config, inputs=whole.inputs, target=whole.target)
        split = alone.read_split("test")
        assert list(alone.splits) == ["test"]
        assert split.place(0).endswith("test.conll:1")
        config["data"]["test"] = None
        with pytest.raises(ValueError, match=r"no test split: name a file, data\.test=FILE"):
            alone.read_split("test")


class TestDevCut:
    def config(self, small_config, *overrides: str) -> dict[str, Any]:
        return small_config("tagging", *overrides, files={"train": TWENTY})

    def test_is_disjoint_from_what_is_left_and_said(self, small_config) -> None:
        data = read(self.config(small_config, "data.dev_fraction=0.2"))
        train, dev = tokens(data, "train"), tokens(data, "dev")
        assert (len(train), len(dev)) == (16, 4)
        assert sorted(train + dev) == sorted([f"w{n}"] for n in range(20))
        (note,) = data.notes
        assert note.startswith("no data.dev: 4 of the 20 rows of ")
        assert note.endswith("(data.dev_fraction=0.2, data.dev_seed=1)")
        # The vocabulary knows nothing of the rows that were cut off.
        assert data.splits["dev"].counts["unknown"] == 4

    def test_depends_on_its_own_seed_alone(self, small_config) -> None:
        first = read(self.config(small_config))
        other_run = read(self.config(small_config, "seed=2"))
        other_cut = read(self.config(small_config, "data.dev_seed=2"))
        assert tokens(first, "dev") == tokens(other_run, "dev")
        assert tokens(first, "dev") != tokens(other_cut, "dev")

    def test_is_the_same_when_only_dev_is_read(self, small_config) -> None:
        config = self.config(small_config)
        data = read(config)
        again = DataModule(config, inputs=data.inputs, target=data.target)
        assert list(again.read_split("dev").rows) == list(data.splits["dev"].rows)

    @pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5])
    def test_a_fraction_that_leaves_nothing_is_refused(self, small_config, fraction) -> None:
        with pytest.raises(ValueError, match=f"dev_fraction is {fraction}; it must lie between"):
            read(self.config(small_config, f"data.dev_fraction={fraction}"))

    def test_one_row_cannot_be_cut(self, small_config) -> None:
        with pytest.raises(ValueError, match=r"has 1 rows: too few .* name one, data\.dev=FILE"):
            read(small_config("tagging", files={"train": "a\tX\n"}))


class TestFaults:
    def test_no_training_file(self, small_config) -> None:
        config = small_config("tagging", files={})
        with pytest.raises(ValueError, match=r"data\.train=FILE"):
            read(config)

    def test_a_missing_file_is_named(self, small_config) -> None:
        config = small_config("tagging")
        config["data"]["dev"] = "nowhere/dev.conll"
        with pytest.raises(ValueError, match=r"^nowhere/dev\.conll: no such file"):
            read(config)

    @pytest.mark.parametrize("text", ["", "\n\n \n"])
    def test_a_split_without_rows_is_named(self, small_config, text: str) -> None:
        files = {"train": "a\tX\n\nb\tY\n", "dev": text}
        with pytest.raises(ValueError, match=r"dev\.conll \(data\.dev\) has no rows"):
            read(small_config("tagging", files=files))

    def test_a_bad_line_is_named(self, small_config) -> None:
        files = {"train": "a\tX\n\nb\n", "dev": "a\tX\n"}
        with pytest.raises(ValueError, match=r"train\.conll:3: .*'b'"):
            read(small_config("tagging", files=files))

    def test_a_bad_target_is_named(self, small_config) -> None:
        files = {"train": "text\tlabel\na\t1\nb\thigh\n", "dev": "text\tlabel\na\t1\n"}
        with pytest.raises(ValueError, match=r"train\.tsv:3: the target 'high' is not a number"):
            read(small_config("regression", files=files))

    def test_a_target_of_another_width_is_named(self, small_config) -> None:
        train = '{"text": ["a", "b"], "label": [[1, 2], [1, 2]]}\n{"text": ["a"], "label": [[1]]}\n'
        # One number would do for a missing target of any width, so it has to be more than null.
        config = small_config(
            "token_regression", files={"train": train, "dev": train}, data="jsonl"
        )
        with pytest.raises(ValueError, match=r"train\.jsonl:2: a target of 1 numbers, where the"):
            read(config)

    def test_vectors_of_another_width_are_named_once(self, small_config) -> None:
        files = {
            "train": '{"text": [[1, 2]], "label": 1}\n{"text": [[2, 3]], "label": 2}\n',
            "dev": '{"text": [[1]], "label": 1}\n',
        }
        with pytest.raises(ValueError, match=r"shape \(1, 1\)") as caught:
            read(small_config("regression", files=files, data="jsonl"))
        assert str(caught.value).count("dev.jsonl:1") == 1

    @pytest.mark.parametrize("task", ["tagging", "token_regression"])
    def test_a_split_with_nothing_to_score_is_refused(self, small_config, task: str) -> None:
        files = {"train": "a\t1\nb\t2\n", "dev": "a\t_\nb\t_\n"}
        with pytest.raises(ValueError, match=r"the dev split .* all of its 2 targets are missing"):
            read(small_config(task, files=files))


class TestLimit:
    def test_a_row_over_the_limit_is_named_with_the_key(self, small_config) -> None:
        with pytest.raises(ValueError, match=r"train\.conll:1: a sequence of 3 elements") as caught:
            read(small_config("tagging", "batching.max_tokens=2", "data.too_long=error"))
        assert "data.too_long=split (1 more are too long)" in str(caught.value)

    def test_a_row_of_just_the_limit_is_taken(self, small_config) -> None:
        read(small_config("tagging", "batching.max_tokens=3", "data.too_long=error"))

    def test_the_limit_holds_for_tables_made_under_another_one(self, small_config) -> None:
        read(small_config("classification"))
        with pytest.raises(ValueError, match=r"test\.tsv:2: .* over the limit of 2"):
            read(small_config("classification", "data.max_length=2"))

    def test_long_rows_are_learnt_in_windows_and_scored_whole(self, small_config) -> None:
        data = read(small_config("tagging", "data.max_length=2"))
        learnt = [content(batch) for batch in data.batches("train", shuffle=True)]
        # Rows of 3, 2, 3 and 1: two windows of two each for the long ones.
        assert sorted(row for *_, rows in learnt for row in rows) == [0, 0, 1, 2, 2, 3]
        counted = sum(there for *_, (_, present), _ in learnt for row in present for there in row)
        assert counted == 9
        scored = [content(batch) for batch in data.val_dataloader()]
        assert sorted(length for _, lengths, *_ in scored for length in lengths) == [2, 3]

    def test_a_sequence_can_be_read_by_its_beginning(self, small_config) -> None:
        data = read(small_config("classification", "data.max_length=2", "data.too_long=truncate"))
        for name in ("train", "test"):
            for batch in data.batches(name, shuffle=False):
                assert batch.layout.valid.shape[1] <= 2
        assert data.splits["test"].counts["longest"] == 3


class TestCounts:
    def test_missing_targets_are_no_labels(self, small_config) -> None:
        data = read(small_config("tagging", files={"train": "a\tX\nb\t_\n", "dev": "a\tX\nb\tX\n"}))
        assert data.splits["train"].counts["missing"] == 1
        assert data.target.labels == ("X",)

    def test_empty_rows_are_left_out_and_counted(self, small_config) -> None:
        files = {
            "train": '{"text": "", "label": "x"}\n{"text": "a", "label": "x"}\n',
            "dev": '{"text": "a", "label": "x"}\n{"text": " ", "label": "x"}\n' * 2,
        }
        data = read(small_config("classification", files=files, data="jsonl"))
        counts = {name: split.counts for name, split in data.splits.items()}
        assert (counts["train"]["rows"], counts["train"]["empty"]) == (1, 1)
        assert (counts["dev"]["rows"], counts["dev"]["empty"]) == (2, 2)
        assert [row["line"] for row in data.splits["dev"].rows] == [1, 3]

    def test_labels_that_training_lacks_are_present_behind_the_known_ones(
        self, small_config
    ) -> None:
        files = {
            "train": "a\tX\nb\tY\n",
            "dev": "a\tZ\nb\tX\n",
            "test": "a\tA\nb\tX\n",
        }
        data = read(small_config("tagging", files=files))
        assert data.target.labels == ("X", "Y")
        assert data.splits["train"].spec.unseen == ()
        assert data.splits["dev"].spec.unseen == ("Z",)
        assert data.splits["test"].spec.unseen == ("A",)
        (dev,), (test,) = data.val_dataloader(), data.test_dataloader()
        assert dev.target.value.tolist() == [[2, 0]]
        assert dev.target.present.tolist() == [[True, True]]
        assert test.target.value.tolist() == [[2, 0]]
        assert test.target.present.tolist() == [[True, True]]


class TestTables:
    def test_are_made_once(self, small_config, tmp_path: Path) -> None:
        def state() -> dict[str, int]:
            return {p.name: p.stat().st_mtime_ns for p in (tmp_path / "cache").iterdir()}

        first = read(small_config("tagging"))
        before = state()
        again = read(small_config("tagging", "seed=9", "batching.max_rows=2", "encoder.dim=4"))
        assert state() == before
        assert again.splits["dev"].counts == first.splits["dev"].counts
        assert again.target == first.target

    def test_a_changed_file_is_noticed_whatever_its_size_and_time(self, small_config) -> None:
        config = small_config("tagging", files={"train": "a\tX\nb\tY\n", "dev": "a\tX\nb\tX\n"})
        first = read(config)
        path = Path(config["data"]["train"])
        before = path.stat()
        path.write_text("b\tX\na\tY\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size
        again = read(config)
        assert tokens(first, "train") == [["a", "b"]]
        assert tokens(again, "train") == [["b", "a"]]
        assert first.splits["train"].digest != again.splits["train"].digest

    @pytest.mark.parametrize(
        ("override", "labels", "symbols"),
        [
            ("data.missing=X", ("Y", "_"), ("a", "b")),
            ("data.target=0", ("a", "b"), ("X", "Y", "_")),
            ("data.skip_lines=1", ("X", "Y"), ("a", "b")),
            ("data.min_frequency=2", ("X", "Y"), ("a",)),
        ],
    )
    def test_one_changed_setting_is_noticed(
        self, small_config, override: str, labels: tuple[str, ...], symbols: tuple[str, ...]
    ) -> None:
        files = {"train": "a\tX\na\tX\nb\tY\na\t_\n", "dev": "a\tY\nb\tY\n"}
        first = read(small_config("tagging", files=files))
        assert first.target.counts == (2, 1)
        extra = ("data.input=1",) if override == "data.target=0" else ()
        again = read(small_config("tagging", override, *extra, files=files))
        assert again.target.labels == labels
        field: Any = again.inputs.fields["word"]
        assert set(field.symbols) == set(symbols)
        # And back: the first tables are still what they were.
        assert read(small_config("tagging", files=files)).target == first.target

    def test_numbers_follow_the_vocabulary_and_not_the_file_alone(self, small_config) -> None:
        def first_ids(train: str) -> list[list[int]]:
            files = {"train": train, "dev": "b\tX\n"}
            (batch,) = read(small_config("tagging", files=files)).val_dataloader()
            return batch.inputs["word"].tolist()

        assert first_ids("a\tX\nb\tX\n") == [[3]]
        assert first_ids("b\tX\nb\tX\n") == [[2]]


class TestBatches:
    def test_training_is_shuffled_by_seed_and_epoch_and_scoring_is_not(self, small_config) -> None:
        files = {"train": TWENTY, "dev": TWENTY}
        first = read(small_config("tagging", "batching.max_rows=4", files=files))
        other = read(small_config("tagging", "batching.max_rows=4", "seed=2", files=files))
        train = first.train_dataloader()
        assert epoch(train, 0) != epoch(train, 1)
        assert epoch(train, 1) == epoch(first.train_dataloader(), 1)
        assert epoch(train, 1) != epoch(other.train_dataloader(), 1)
        dev = first.val_dataloader()
        assert epoch(dev, 0) == epoch(dev, 1) == epoch(other.val_dataloader(), 0)

    def test_workers_give_the_same_batches(self, small_config) -> None:
        settings = ("batching.max_rows=2",)
        alone = read(small_config("tagging", *settings))
        helped = read(small_config("tagging", *settings, "batching.num_workers=2"))
        loader = helped.train_dataloader()
        assert len(loader) == len(alone.train_dataloader()) == 2
        for number in (0, 1):
            assert epoch(loader, number) == epoch(alone.train_dataloader(), number)

    def test_processes_share_the_batches(self, small_config) -> None:
        files = {"train": TWENTY, "dev": TWENTY}
        rows = []
        for rank in (0, 1):
            data = read(small_config("tagging", "batching.max_rows=4", files=files))
            data.trainer = trainer(global_rank=rank, world_size=2)
            rows.append([row for batch in data.val_dataloader() for row in batch.rows.tolist()])
        assert sorted(rows[0] + rows[1]) == list(range(20))
        assert rows[0]
        assert rows[1]

    def test_a_run_that_goes_on_does_not_repeat_the_first_epoch(self, small_config) -> None:
        files = {"train": TWENTY, "dev": TWENTY}
        data = read(small_config("tagging", "batching.max_rows=4", files=files))
        third = epoch(data.train_dataloader(), 2)
        data.trainer = trainer(global_step=2 * len(data.train_dataloader()))
        assert [content(batch) for batch in data.train_dataloader()] == third


class TestSizes:
    def test_long_targets_make_small_batches(self, small_config) -> None:
        line = "a\t" + "x " * 9 + "x\n"
        files = {"train": "text\tvalue\n" + line * 6, "dev": "text\tvalue\n" + line}
        config = small_config("seq2seq", "batching.max_tokens=30", files=files)
        data = read(config)
        assert data.splits["train"].sizes().tolist() == [11] * 6  # ten symbols and the end
        shapes = [tuple(b.target.value.shape) for b in data.batches("train", shuffle=False)]
        assert shapes == [(2, 11)] * 3

    def test_a_target_over_the_budget_is_refused(self, small_config) -> None:
        files = {"train": "text\tvalue\na\tx x x x x\n", "dev": "text\tvalue\na\tx\n"}
        config = small_config("seq2seq", "batching.max_tokens=5", files=files)
        with pytest.raises(ValueError, match=r"train.tsv:2: .* 6 .*batching.max_tokens=5"):
            read(config)


class TestSeeds:
    @pytest.mark.parametrize("words", [[], ["data.train_rows=8"]])
    def test_another_seed_has_other_numbers_too(self, small_config, words: list[str]) -> None:
        for seed in (1, 2):
            data = read(
                small_config("tagging", f"data.dev_seed={seed}", *words, files={"train": TWENTY})
            )
            for name in ("train", "dev"):
                split = data.splits[name]
                known = [token for row in split.rows for token in row["tokens"]]
                labels = [f"L{int(token[1:]) % 3}" for token in known]
                encoded = [int(row["target"][0]) for row in split.encoded]
                assert [data.target.labels[label] for label in encoded] == labels


class TestLearningCurves:
    def test_a_part_of_the_training_rows_is_drawn_and_a_larger_one_holds_it(
        self, small_config
    ) -> None:
        files = {"train": TWENTY, "dev": TWENTY}
        drawn = []
        for size in (3, 8, 20):
            data = read(small_config("tagging", f"data.train_rows={size}", files=files))
            drawn.append({row["tokens"][0] for row in data.splits["train"].rows})
            assert data.splits["train"].counts["rows"] == len(drawn[-1]) == size
            assert data.splits["dev"].counts["rows"] == 20
            assert f"training on {size} of 20 rows (data.train_rows)" in data.notes
        assert drawn[0] < drawn[1] < drawn[2]

    def test_the_dev_rows_that_are_cut_off_do_not_depend_on_it(self, small_config) -> None:
        cut = [
            [row["tokens"] for row in read(config).splits["dev"].rows]
            for config in (
                small_config("tagging", files={"train": TWENTY}),
                small_config("tagging", "data.train_rows=5", files={"train": TWENTY}),
            )
        ]
        assert cut[0] == cut[1]

    @pytest.mark.parametrize("size", ["0", "21", "-1", "1.5", "true", "x"])
    def test_what_cannot_be_drawn_is_refused(self, size: str, small_config) -> None:
        config = small_config(
            "tagging", f"data.train_rows={size}", files={"train": TWENTY, "dev": TWENTY}
        )
        with pytest.raises(ValueError, match=r"data.train_rows is .* from 1 to the 20 training"):
            read(config)
