from functools import partial
from typing import ClassVar

import numpy as np
import pytest
import torch

from seqtag.batch import Prediction, Row, Target, TargetSpec
from seqtag.checkpoint import load_checkpoint
from seqtag.data.readers.values import spell_probabilities
from seqtag.data.tokenizers import Whitespace
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.evaluation.schemes import invalid_transitions
from seqtag.evaluation.spans import SpanF1Strict
from seqtag.predictor import Predictor
from seqtag.tasks.tagging import Labels, Tagging
from seqtag.tasks.task import Task

ROWS: list[Labels] = [["N", "V"], ["N", None, "D"], ["N"]]
METRICS = {"accuracy": partial(Accuracy), "span_f1": partial(SpanF1Strict)}
TASK = Tagging(metrics=METRICS, selection=["span_f1", "accuracy"], target_tokenizer=Whitespace())
SPEC = TASK.fit(lambda: ROWS)


def row(target) -> Row:
    return {
        "tokens": ["a", "b"],
        "target": target,
        "file": "f.conll",
        "line": 3,
        "element_lines": [3, 4],
    }


class TestParse:
    def test_every_element_has_a_label_or_none(self) -> None:
        assert TASK.parse(row(["N", None])) == ["N", None]

    def test_a_row_without_a_target_lacks_one_per_element(self) -> None:
        assert TASK.parse(row(None)) == [None, None]
        assert TASK.parse({"vectors": [[1.0], [2.0], [3.0]]}) == [None] * 3

    def test_numbers_and_truth_values_are_names_of_labels(self) -> None:
        assert TASK.parse(row([1, True])) == ["1", "true"]
        assert TASK.parse(row([2.5, False])) == ["2.5", "false"]

    def test_one_label_for_the_sequence_is_an_error_with_file_and_line(self) -> None:
        with pytest.raises(ValueError, match=r"^f.conll:3: tagging wants .* the target is 'N'$"):
            TASK.parse(row("N"))

    def test_several_labels_for_an_element_are_an_error_with_its_line(self) -> None:
        with pytest.raises(ValueError, match=r"^f.conll:4: a label is one .* not \['N', 'V'\]$"):
            TASK.parse(row(["N", ["N", "V"]]))


class TestFit:
    def test_labels_are_sorted_and_counted(self) -> None:
        assert SPEC.labels == ("D", "N", "V")
        assert SPEC.counts == (1, 3, 1)
        assert SPEC.unseen == ()
        assert SPEC.scheme is None

    def test_the_scheme_is_found_over_all_rows(self) -> None:
        spec = TASK.fit(lambda: [["O", "O"]] * 50 + [["B-PER", "I-PER", "O"]])
        assert spec.scheme == "IOB2"
        assert spec.labels == ("B-PER", "I-PER", "O")

    def test_no_label_at_all_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="every target is missing"):
            TASK.fit(lambda: [[None, None], [None]])

    def test_labels_that_training_lacks_are_listed(self) -> None:
        spec = TASK.extend(SPEC, [["Z", "N"], ["A", None, "Z"]])
        assert spec.unseen == ("A", "Z")
        assert spec.labels == SPEC.labels


class TestEncode:
    def test_unseen_labels_are_present_behind_the_known_ones(self) -> None:
        encoded = TASK.encode(["V", None, "Z", "A"], SPEC.with_unseen(("A", "Z")))
        assert encoded["target"].tolist() == [2, 0, 4, 3]
        assert encoded["present"].tolist() == [1, 0, 1, 1]
        assert encoded["target"].dtype == np.int32

    def test_a_label_that_was_not_announced_is_never_taken_for_another(self) -> None:
        with pytest.raises(KeyError, match="Z"):
            TASK.encode(["N", "Z"], SPEC)

    def test_collated_targets_are_padded_as_missing(self) -> None:
        encoded = [TASK.encode(labels, SPEC) for labels in ROWS]
        target = TASK.collate(encoded, np.array([2, 3, 1]))
        assert target.value.tolist() == [[1, 2, 0], [1, 0, 0], [1, 0, 0]]
        assert target.present.tolist() == [
            [True, True, False],
            [True, False, True],
            [True, False, False],
        ]
        assert target.value.dtype == torch.int64
        assert target.present.dtype == torch.bool


class TestDecode:
    def test_undoes_encode_and_leaves_padding_out(self) -> None:
        rows = [["N", "V"], ["D", "N", "V"], ["N"]]
        lengths = [len(labels) for labels in rows]
        target = TASK.collate([TASK.encode(labels, SPEC) for labels in rows], np.array(lengths))
        outputs = TASK.decode(Prediction(target.value), lengths, SPEC, probabilities=True)
        assert [output.value for output in outputs] == rows
        assert [output.probabilities for output in outputs] == [None] * 3

    def test_every_label_has_a_probability_where_they_are_asked_for(self) -> None:
        shares = torch.tensor([[[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]])
        prediction = Prediction(torch.tensor([[1, 0]]), shares)
        (output,) = TASK.decode(prediction, [1], SPEC, probabilities=True)
        assert output.value == ["N"]
        assert output.probabilities == [{"D": 0.25, "N": 0.5, "V": 0.25}]
        (output,) = TASK.decode(prediction, [1], SPEC, probabilities=False)
        assert output.probabilities is None


class TestFloor:
    def test_is_the_most_frequent_label_everywhere(self) -> None:
        target = Target(torch.tensor([[2, 0], [0, 9]]), torch.ones(2, 2, dtype=torch.bool))
        assert TASK.floor(target, SPEC).value.tolist() == [[1, 1], [1, 1]]

    def test_is_the_first_by_name_of_equally_frequent_labels(self) -> None:
        spec = TASK.fit(lambda: [["b", "a"]])
        target = Target(torch.tensor([[1]]), torch.tensor([[True]]))
        assert TASK.floor(target, spec).value.tolist() == [[0]]


class TestScheme:
    """Files in IOB2, and a model that learns IOBES."""

    FILE: ClassVar[list[Labels]] = [["B-X", "I-X", "O", "B-X"], ["O", None, "B-X", "B-X", "I-X"]]

    @staticmethod
    def task(scheme: str) -> Tagging:
        task = Tagging(metrics=METRICS, selection=["accuracy"], target_tokenizer=Whitespace())
        task.learn_scheme(scheme)
        return task

    @classmethod
    def made(cls) -> tuple[Tagging, TargetSpec]:
        task = cls.task("IOBES")
        return task, task.fit(lambda: cls.FILE)

    def test_labels_and_counts_are_those_of_the_scheme_that_is_learnt(self) -> None:
        _, spec = self.made()
        assert spec.labels == ("B-X", "E-X", "O", "S-X")
        assert spec.counts == (2, 2, 2, 2)
        assert (spec.scheme, spec.file_scheme) == ("IOBES", "IOB2")

    def test_gold_labels_are_converted_whatever_the_split(self) -> None:
        task, spec = self.made()
        encoded = task.encode(["B-X", None, "I-X", "B-X"], spec)
        assert encoded["target"].tolist() == [0, 0, 1, 3]
        assert encoded["present"].tolist() == [1, 0, 1, 1]

    def test_a_label_is_unseen_where_the_converted_training_labels_lack_it(self) -> None:
        task, spec = self.made()
        extended = task.extend(spec, [["B-X", "I-X", "I-X"], ["B-NEW"], ["NAME"]])
        assert extended.unseen == ("I-X", "NAME", "S-NEW")
        encoded = task.encode(["B-NEW", "NAME", "O"], extended)
        assert encoded["target"].tolist() == [6, 5, 2]

    def test_outputs_are_in_the_scheme_of_the_files(self) -> None:
        task, spec = self.made()
        prediction = Prediction(torch.tensor([[0, 1, 2, 3, 0], [1, 0, 2, 2, 2]]))
        outputs = task.decode(prediction, [4, 3], spec, probabilities=True)
        assert [output.value for output in outputs] == [
            ["B-X", "I-X", "O", "B-X"],
            ["B-X", "B-X", "O"],  # E without B, B without E: a span each
        ]
        assert outputs[0].probabilities is None

    def test_probabilities_are_of_the_labels_of_the_files(self) -> None:
        task, spec = self.made()
        shares = torch.tensor([[[0.5, 0.0, 0.25, 0.25], [0.125, 0.625, 0.25, 0.0]]])
        (output,) = task.decode(
            Prediction(torch.tensor([[0, 1]]), shares), [2], spec, probabilities=True
        )
        assert output.value == ["B-X", "I-X"]
        assert output.probabilities == [
            {"B-X": 0.75, "O": 0.25},
            {"B-X": 0.125, "I-X": 0.625, "O": 0.25},
        ]
        assert spell_probabilities(output) == "0.75 0.625"

    def test_what_is_decoded_is_what_was_encoded(self) -> None:
        task, spec = self.made()
        rows: list[Labels] = [["B-X", "I-X", "O"], ["B-X", "B-X", "O"]]
        target = task.collate([task.encode(row, spec) for row in rows], np.array([3, 3]))
        outputs = task.decode(Prediction(target.value), [3, 3], spec, probabilities=False)
        assert [output.value for output in outputs] == rows

    def test_the_scheme_of_the_files_itself_changes_nothing(self) -> None:
        broken: list[Labels] = [["B-X", "I-X"], ["B-X", "O"], ["O", "I-X"]]
        assert self.task("IOB2").fit(lambda: broken) == TASK.fit(lambda: broken)

    @pytest.mark.parametrize(
        ("labels", "found"),
        [
            (["B-X", "NAME"], "1 of 2 are spelled in no scheme, the most frequent is 'NAME'"),
            (["O", "O"], "there is none but O"),
        ],
    )
    def test_labels_that_are_no_spans_are_refused_with_what_was_found(
        self, labels: Labels, found: str
    ) -> None:
        with pytest.raises(ValueError, match=rf"^data.scheme=IOBES converts .*: {found}.*=null$"):
            self.task("IOBES").fit(lambda: [labels])

    def test_another_scheme_than_the_model_learnt_is_refused(self) -> None:
        _, spec = self.made()
        with pytest.raises(ValueError, match=r"^data.scheme=BILOU, and .* of the scheme IOBES;"):
            self.task("BILOU").extend(spec, self.FILE)

    def test_a_model_needs_no_setting_to_answer_as_it_learnt(self) -> None:
        _, spec = self.made()
        assert TASK.encode(["B-X"], spec)["target"].tolist() == [3]
        assert TASK.extend(spec, [["B-X"]]).unseen == ()

    def test_the_checkpoint_keeps_both_schemes_and_older_ones_had_one(self) -> None:
        _, spec = self.made()
        assert TargetSpec.from_state(spec.state()) == spec
        older = {name: value for name, value in spec.state().items() if name != "file_scheme"}
        assert TargetSpec.from_state(older).file_scheme is None


class TestSchemeOfARun:
    FILE = "the O\nold B-X\ndog I-X\n\nAnn B-Y\nBob B-Y\nran O\n\ndogs B-X\n".replace(" ", "\t")
    FILES: ClassVar[dict[str, str]] = {"train": FILE, "dev": FILE}

    def test_is_learnt_and_files_keep_theirs(self, small_config, save_run) -> None:
        config = small_config("tagging", "data.scheme=bioes", files=self.FILES)
        checkpoint = load_checkpoint(save_run(config))
        assert checkpoint.target.labels == ("B-X", "E-X", "O", "S-X", "S-Y")
        predictor = Predictor(checkpoint, device="cpu")
        items = [["old", "dog"] * 3, [], ["Ann"], ["the", "dogs", "ran"] * 2]
        written = set()
        for item, output in zip(items, predictor.predict(items, probabilities=True), strict=True):
            assert len(output.value) == len(item)
            assert invalid_transitions([output.value], "IOB2").total() == 0
            written.update(output.value)
            for label, shares in zip(output.value, output.probabilities, strict=True):
                assert shares[label] >= 1 / 5
                assert sum(shares.values()) == pytest.approx(1)
        assert written <= {"O", "B-X", "I-X", "B-Y", "I-Y"}

    def test_is_refused_by_tasks_without_spans(self, small_config) -> None:
        for task in ("classification", "regression", "seq2seq", "token_regression"):
            config = small_config(task, "data.scheme=BIO")
            with pytest.raises(
                ValueError, match=r"^data.scheme=IOB2 converts .* set data.scheme=null"
            ):
                Task.from_config(config)

    def test_is_refused_where_there_is_none_of_that_name(self, small_config) -> None:
        with pytest.raises(ValueError, match=r"^data.scheme is 'BMES'; it must be null or one of"):
            Task.from_config(small_config("tagging", "data.scheme=BMES"))


class TestMetrics:
    def test_spans_are_scored_only_where_labels_are_spans(self) -> None:
        assert list(TASK.metrics(SPEC)) == ["accuracy"]
        spans = TASK.fit(lambda: [["B-X", "I-X", "O"]])
        assert list(TASK.metrics(spans)) == ["accuracy", "span_f1"]

    def test_the_first_that_is_defined_chooses_the_epoch(self) -> None:
        assert TASK.selection(["accuracy"]) == "accuracy"
        assert TASK.selection(["accuracy", "span_f1"]) == "span_f1"

    def test_none_that_is_defined_is_an_error(self) -> None:
        task = Tagging(
            metrics={"rmse": partial(RootMeanSquaredError)},
            selection=["rmse"],
            target_tokenizer=Whitespace(),
        )
        with pytest.raises(ValueError, match=r"none of task.selection=\['rmse'\] is defined"):
            task.selection(["accuracy"])

    @pytest.mark.parametrize("selection", [["f1"], []])
    def test_a_selection_among_other_metrics_is_refused(self, selection: list[str]) -> None:
        with pytest.raises(ValueError, match=r"the task's metrics are \['macro_f1'\]"):
            Tagging(
                metrics={"macro_f1": partial(MacroF1)},
                selection=selection,
                target_tokenizer=Whitespace(),
            )
