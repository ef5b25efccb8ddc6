import pytest

from seqtag.datamodule import DataModule
from seqtag.floors import score_floor


def floor(config) -> dict[str, float]:
    data = DataModule(config)
    data.read_all(test=True)
    return score_floor(data, "dev")


def test_labels_of_elements_are_the_most_frequent_one(small_config) -> None:
    files = {"train": "a\tX\nb\tX\nc\tY\n", "dev": "a\tX\n\nb\tY\nc\tX\nd\tZ\n\ne\t_\n"}
    scores = floor(small_config("tagging", files=files))
    assert scores["accuracy"] == pytest.approx(2 / 4)
    # X has 2 of 4 predictions right and all of its 2 gold labels found, Y and Z have nothing.
    assert scores["macro_f1"] == pytest.approx((2 / 3) / 3)


def test_labels_of_rows_are_the_most_frequent_one(small_config) -> None:
    # In training "yes" stands three times and "no" twice.
    assert floor(small_config("classification"))["accuracy"] == pytest.approx(1 / 2)


def test_numbers_of_rows_are_the_training_mean(small_config) -> None:
    # The mean of 3, 1, 4, 4 is 3; dev has 2 and 2.
    scores = floor(small_config("regression"))
    assert scores["rmse"] == pytest.approx(1.0)
    assert scores["mae"] == pytest.approx(1.0)


def test_numbers_of_elements_are_the_training_mean(small_config) -> None:
    files = {"train": "a\t1\nb\t3\nc\t_\n", "dev": "a\t2\n\nb\t5\nc\t_\n"}
    assert floor(small_config("token_regression", files=files))["mae"] == pytest.approx(1.5)


@pytest.mark.parametrize("rows", [1, 2, 32])
def test_the_batch_size_does_not_matter(small_config, rows: int) -> None:
    config = small_config("tagging", f"batching.max_rows={rows}")
    assert floor(config) == floor(small_config("tagging"))
