import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from seqtag.report import heatmap
from seqtag.report.attention_maps import LEARNED, AttentionMap, Layer
from seqtag.report.axis_labels import _step
from seqtag.report.heatmap import draw, render

TITLE = "part, file:1"


def chart(queries: list[str], keys: list[str], layers: int = 1, heads: int = 2) -> AttentionMap:
    grids = np.random.default_rng(0).dirichlet(
        np.ones(len(keys)), size=(layers, heads, len(queries))
    )
    return AttentionMap("part", queries, keys, [Layer("module", grid) for grid in grids])


def panels(figure: Figure) -> list:
    return [axes for axes in figure.axes if axes.images]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in panels(figure) for text in axes.texts]


def test_there_is_a_panel_for_each_layer_and_head_with_its_weights() -> None:
    drawn = chart(["a", "b"], ["c", "d", "e"], layers=2, heads=3)
    figure = draw(drawn, title=TITLE, longest=60).figure
    found = panels(figure)
    assert [axes.get_title("left") for axes in found] == [
        f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2, 3)
    ]
    assert np.array_equal(found[4].images[0].get_array(), drawn.layers[1].weights[1])
    peak = max(layer.weights.max() for layer in drawn.layers)
    assert {axes.images[0].get_clim() for axes in found} == {(0, peak)}


def test_rows_are_queries_and_columns_are_keys() -> None:
    figure = draw(chart(["q", "r"], ["k"], heads=1), title=TITLE, longest=60).figure
    assert texts(figure) == ["k", "q", "r"]
    key, first, second = panels(figure)[0].texts
    assert key.get_position()[0] == 0
    assert [first.get_position()[1], second.get_position()[1]] == [0, 1]
    assert panels(figure)[0].yaxis_inverted()  # the first query is on top


def test_pooling_has_a_row_for_each_head() -> None:
    figure = draw(chart([LEARNED], ["a", "b"], heads=3), title=TITLE, longest=60).figure
    (panel,) = panels(figure)
    assert panel.images[0].get_array().shape == (3, 2)
    assert texts(figure) == ["a", "b", "head 1", "head 2", "head 3"]


def test_words_are_turned_where_they_do_not_fit_and_wide_ones_stacked() -> None:
    words = ["attention", "天安门", "a"] * 5
    (panel,) = panels(draw(chart(["q"], words, heads=1), title=TITLE, longest=60).figure)
    found = [(text.get_text(), text.get_rotation()) for text in panel.texts[:3]]
    assert found == [("attention", 90), ("天\n安\n门", 0), ("a", 0)]
    (panel,) = panels(draw(chart(["q"], ["on", "the"], heads=1), title=TITLE, longest=60).figure)
    assert [text.get_rotation() for text in panel.texts] == [0, 0, 0]


def test_long_axes_have_round_numbers() -> None:
    figure = draw(chart(["q"], ["word"] * 70, heads=1), title=TITLE, longest=60).figure
    assert texts(figure) == ["1", "10", "20", "30", "40", "50", "60", "70", "q"]


@pytest.mark.parametrize(("count", "step"), [(3, 1), (9, 2), (61, 10), (160, 20), (4096, 1000)])
def test_numbers_of_an_axis_are_few(count: int, step: int) -> None:
    assert _step(count) == step


def test_no_label_leaves_the_picture_or_meets_the_next_panel() -> None:
    words = ["a", "antidisestablishmentarianism", "$_{", "x" * 99]
    figure = draw(chart(words, words, layers=2), title="t" * 30, longest=60).figure
    render(figure, "png")
    boxes = [
        [text.get_window_extent() for text in axes.texts] + [axes.get_window_extent()]
        for axes in panels(figure)
    ]
    for group in boxes:
        for box in group:
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1
    for number, group in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert not any(a.overlaps(b) for a in group for b in other)


def test_tokens_are_no_formulas_and_stay_texts_in_an_svg() -> None:
    figure = draw(chart(["$x^2$", "a_b"], ["<&>", "京"]), title=TITLE, longest=60).figure
    written = render(figure, "svg").decode()
    for text in ("$x^2$", "a_b", "&lt;&amp;&gt;", "京", TITLE):
        assert f">{text}</text>" in written
    assert render(figure, "svg").decode() == written


def test_characters_without_a_font_are_told_and_not_warned_of(recwarn, monkeypatch) -> None:
    monkeypatch.setattr(heatmap, "choose_families", lambda text: (["DejaVu Sans"], {"京"}))
    picture = draw(chart(["京"], ["京"]), title=TITLE, longest=60)
    assert picture.missing == {"京"}
    assert imread(io.BytesIO(render(picture.figure, "png"))).ndim == 3
    assert not recwarn.list


def test_large_pictures_have_fewer_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = draw(chart(["q"], ["a", "b"]), title=TITLE, longest=60).figure
    monkeypatch.setattr(heatmap, "MOST_DOTS", 10_000)
    height, width, _ = imread(io.BytesIO(render(figure, "png"))).shape
    assert 9_000 < height * width < 10_100
