from functools import partial

import numpy as np
import pytest
import torch

from seqtag.batch import Prediction, Row, Target
from seqtag.data.tokenizers import Whitespace
from seqtag.evaluation.labels import Accuracy, MacroF1
from seqtag.evaluation.numbers import RootMeanSquaredError
from seqtag.evaluation.spans import SpanF1Strict
from seqtag.tasks.tagging import Labels, Tagging

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
