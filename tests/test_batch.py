import json
from typing import Any

import pytest
import torch
from pytorch_lightning.utilities import move_data_to_device

from seqtag.batch import Batch, Layout, Row, Target, TargetSpec, place

SPEC = TargetSpec(labels=("a", "b"), counts=(2, 1), scheme="IOB2")


def batch(target: Target | None = None) -> Batch:
    return Batch(
        inputs={"word": torch.tensor([[3, 4], [5, 0]])},
        layout=Layout.of(torch.tensor([2, 1])),
        target=target,
        rows=torch.tensor([7, 3]),
    )


class TestLayout:
    def test_elements_come_first_and_padding_behind(self) -> None:
        layout = Layout.of(torch.tensor([3, 0, 1]))
        assert layout.valid.tolist() == [[True] * 3, [False] * 3, [True, False, False]]
        assert layout.positions.tolist() == [[0, 1, 2]] * 3
        assert layout.valid.dtype == torch.bool

    @pytest.mark.parametrize(
        ("lengths", "expected"), [([2, 2], False), ([2, 1], True), ([4], False), ([], False)]
    )
    def test_says_whether_there_is_padding(self, lengths: list[int], expected: bool) -> None:
        assert Layout.of(torch.tensor(lengths, dtype=torch.int64)).has_padding is expected

    def test_no_rows_make_an_empty_layout(self) -> None:
        assert Layout.of(torch.tensor([], dtype=torch.int64)).valid.shape == (0, 0)


class TestMoving:
    @pytest.mark.parametrize("move", [Batch.to, move_data_to_device], ids=["to", "lightning"])
    def test_everything_goes_but_what_the_host_needs(self, move: Any) -> None:
        target = Target(torch.tensor([[0, 1], [1, 0]]), torch.tensor([[True, True], [True, False]]))
        here = batch(target)
        there = move(here, torch.device("meta"))
        assert there.inputs["word"].is_meta
        assert there.target.value.is_meta
        assert there.target.present.is_meta
        assert there.layout.valid.is_meta
        assert there.layout.lengths.is_meta
        assert there.layout.positions.is_meta
        assert there.layout.lengths_cpu.tolist() == [2, 1]
        assert there.rows.tolist() == [7, 3]
        assert not here.inputs["word"].is_meta

    def test_a_batch_without_gold_values_moves_too(self) -> None:
        assert batch().to("meta").target is None


class TestTargetSpec:
    @pytest.mark.parametrize("spec", [SPEC, TargetSpec(mean=(1.5, 2.0), deviation=(1.0, 3.0))])
    def test_is_the_same_after_it_was_kept_as_plain_values(self, spec: TargetSpec) -> None:
        assert TargetSpec.from_state(json.loads(json.dumps(spec.state()))) == spec

    def test_width_is_the_count_of_numbers(self) -> None:
        assert SPEC.width == 0
        assert TargetSpec(mean=(0.0, 0.0), deviation=(1.0, 1.0)).width == 2

    def test_unseen_labels_have_ids_behind_the_known_ones(self) -> None:
        wider = SPEC.with_unseen(("A", "z"))
        assert wider.ids == {"a": 0, "b": 1, "A": 2, "z": 3}
        assert wider.labels == SPEC.labels
        assert SPEC.ids == {"a": 0, "b": 1}

    def test_ids_are_not_part_of_what_is_kept(self) -> None:
        spec = SPEC.with_unseen(("z",))
        before = spec.state()
        assert spec.ids
        assert spec.state() == before


def test_a_place_is_the_line_of_the_element_where_elements_have_lines() -> None:
    row: Row = {"file": "f.conll", "line": 4, "element_lines": [4, 6]}
    assert place(row) == "f.conll:4"
    assert place(row, 1) == "f.conll:6"
    assert place({"file": "f.tsv", "line": 9}, 1) == "f.tsv:9"
    assert place({}) == "input:0"
