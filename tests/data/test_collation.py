import numpy as np
import torch

from seqtag.batch import Target
from seqtag.data.collation import collate


def test_rows_are_padded_to_the_longest() -> None:
    rows = [{"word": np.array([2, 3], np.int32)}, {"word": np.array([4, 5, 6], np.int32)}]
    batch = collate(rows, [9, 4], fields=["word"], collate_target=None)
    assert batch.inputs["word"].tolist() == [[2, 3, 0], [4, 5, 6]]
    assert batch.inputs["word"].dtype == torch.int64
    assert batch.layout.valid.tolist() == [[True, True, False], [True, True, True]]
    assert batch.layout.lengths.tolist() == [2, 3]
    assert batch.rows.tolist() == [9, 4]
    assert batch.target is None


def test_vectors_keep_their_width_and_kind() -> None:
    rows = [{"vectors": np.ones((1, 2), np.float32)}, {"vectors": np.ones((2, 2), np.float32)}]
    batch = collate(rows, range(2), fields=["vectors"], collate_target=None)
    assert batch.inputs["vectors"].tolist() == [[[1, 1], [0, 0]], [[1, 1], [1, 1]]]
    assert batch.inputs["vectors"].dtype == torch.float32
    assert batch.layout.lengths.tolist() == [1, 2]


def test_the_task_pads_the_targets() -> None:
    seen = {}

    def pad(encoded, lengths) -> Target:
        seen["targets"] = [row["target"] for row in encoded]
        seen["lengths"] = lengths.tolist()
        return Target(torch.zeros(2), torch.ones(2, dtype=torch.bool))

    rows = [{"word": np.array([2]), "target": "x"}, {"word": np.array([2, 2]), "target": "y"}]
    batch = collate(rows, [0, 1], fields=["word"], collate_target=pad)
    assert seen == {"targets": ["x", "y"], "lengths": [1, 2]}
    assert batch.target is not None
    assert list(batch.inputs) == ["word"]


def test_rows_that_lie_in_read_only_memory_are_copied() -> None:
    ids = np.array([2, 3])
    ids.setflags(write=False)
    batch = collate([{"word": ids}], [0], fields=["word"], collate_target=None)
    batch.inputs["word"][0, 0] = 7
    assert ids.tolist() == [2, 3]
