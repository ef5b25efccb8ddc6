from __future__ import annotations

from typing import Any

import pytest

from data.readers.formats import jsonl, pairs, read, write, write_gold
from seqtag.batch import Output
from seqtag.data.tokenizers import Characters, Whitespace


@pytest.mark.parametrize(
    ("line", "elements", "target"),
    [
        ('{"text": " a b ", "label": "x"}', ["a", "b"], "x"),
        ('{"text": "", "label": "x"}', [], "x"),
        ('{"text": ["a b", "#", ""], "label": null}', ["a b", "#", ""], None),
        ('{"text": ["a"], "label": ["x"]}', ["a"], ["x"]),
        ('{"text": "a b", "label": ["x", null]}', ["a", "b"], ["x", None]),
        ('{"text": "a b", "label": ["_", 3]}', ["a", "b"], [None, 3]),
        ('{"text": "a b", "label": [[1, 2.5], [3, null]]}', ["a", "b"], [[1, 2.5], [3, None]]),
        ('{"text": "a", "label": "_"}', ["a"], None),
        ('{"text": "a", "label": 1}', ["a"], 1),
        ('{"text": "a", "label": -0.5e1}', ["a"], -5.0),
        ('{"text": [[1, 2.5], [3, 4]], "label": "x"}', [[1.0, 2.5], [3.0, 4.0]], "x"),
        ('{"text": [], "label": []}', [], []),
        (' {"label":"x",\t"text":"a\\u00e9\\ud83d\\ude00"} ', ["aé😀"], "x"),
        ('{"text": "a\u2028b\u00a0c\u0085", "label": "x"}', ["a\u2028b\u00a0c\u0085"], "x"),
        ('{"text": "a", "label": "x", "o": {"label": [1.0, 1e2, "{}\\""]}}', ["a"], "x"),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_each_line_is_an_object(line: str, elements: Any, target: Any, end: str) -> None:
    data = (line + end).encode()
    assert pairs(jsonl(), data) == [(elements, target)]
    assert write_gold(jsonl(), data) == data


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "not JSON (Expecting value, character 1)"),
        ("{'text': 1}", "not JSON (Expecting property name enclosed in double quotes, character 2"),
        ('{"text": "a", "label": "x"', "not JSON (Expecting ',' delimiter, character 27)"),
        ('{"text": "a", "label": "x"} {}', "not JSON (Extra data, character 29)"),
        ('{"text": "a\tb"}', "not JSON (Invalid control character at, character 12)"),
        ('["a"]', "not a JSON object in braces"),
        ('"a"', "not a JSON object in braces"),
        ('{"text": "a", "label": NaN}', "NaN is not a JSON number"),
        ('{"text": "a", "label": "x", "o": -Infinity}', "-Infinity is not a JSON number"),
        ('{"text": "a", "text": "b"}', "the key 'text' comes twice"),
        ('{"text": "a", "label": "x", "o": {"p": 1, "p": 2}}', "the key 'p' comes twice"),
        ('{"label": "x"}', "data.input=text: no such key, the object has 'label'"),
        ('{"text": "a"}', "data.target=label: no such key, the object has 'text'"),
        ('{"text": 3}', "data.input=text is a number; give a string, a list of strings"),
        ('{"text": null}', "data.input=text is null; give a string"),
        ('{"text": {"a": 1}}', "data.input=text is an object; give a string"),
        ('{"text": ["a", 1]}', "element 2 is a number; give a string"),
        ('{"text": [1, 2]}', "element 1 is a number; give a string"),
        ('{"text": [[]]}', "element 1 is a list; give a string"),
        ('{"text": [[1], "a"]}', "element 2 is a string where the file has vectors"),
        ('{"text": [[1, 2], [3]]}', "element 2 has 1 numbers where the file's first has 2"),
        ('{"text": [[1], [true]]}', "element 2: true or false where a number is expected"),
        ('{"text": [[1], [null]]}', "element 2: null where a number is expected"),
        ('{"text": [[1], [1e999]]}', "element 2: an infinite number, or one too large"),
        ('{"text": [[1' + "0" * 400 + "]]}", "element 1: an infinite number, or one too large"),
        ('{"text": "a", "label": true}', "true or false where a number is expected"),
        ('{"text": "a", "label": {}}', "an object where a number is expected"),
        ('{"text": "a b", "label": ["x"]}', "1 targets for 2 elements"),
        ('{"text": "a", "label": [["x"]]}', "a string where a number is expected"),
        ('{"text": "a", "label": 1e999}', "an infinite number, or one too large for this machine"),
        ('{"text": "\\ud800", "label": "x"}', "a string holds half of a surrogate pair"),
        ('{"text": ' + "[" * 100_000, "not readable: lists or objects are nested too deeply"),
    ],
)
def test_a_bad_line_is_an_error(line: str, message: str) -> None:
    good = '{"text": [], "label": null}\n'
    reader = jsonl(max_line_bytes=1_000_000)
    with pytest.raises(ValueError, match="f:2") as error:
        read(reader, (good + line + "\n").encode())
    assert str(error.value).startswith(f"f:2: {message}")
    assert str(error.value).count("\n") == 0


def test_a_target_of_the_sequence_may_be_a_list_of_its_own_length() -> None:
    reader = jsonl(sequence_tokenizer=Characters())
    line = b'{"text": "a b", "label": ["x", " ", "_"]}\n'
    (row,) = read(reader, line)
    assert row["target"] == ["x", " ", "_"]
    assert reader.write(row, Output("x _")) == line.decode()
    assert reader.write(row, Output("yy")) == '{"text": "a b", "label": ["y", "y"]}\n'


def test_all_vectors_of_a_file_have_one_width() -> None:
    data = b'{"text": [[1, 2]], "label": 1}\n{"text": [], "label": 1}\n{"text": [[1]], "label": 1}'
    with pytest.raises(ValueError, match="f:3: element 1 has 1 numbers where the file's first"):
        read(jsonl(), data)
    assert pairs(jsonl(), data.rsplit(b"\n", 1)[0]) == [([[1.0, 2.0]], 1), ([], 1)]


def test_tokens_and_vectors_do_not_mix() -> None:
    data = b'{"text": ["a"], "label": 1}\n{"text": [[1]], "label": 1}\n'
    with pytest.raises(ValueError, match="f:2: element 1 is a list; give"):
        read(jsonl(), data)


def test_a_target_string_is_split_where_elements_have_targets() -> None:
    reader = jsonl(target_tokenizer=Whitespace())
    data = b'{"text": "a b c", "label": "x _ z"}\n'
    assert pairs(reader, data) == [(["a", "b", "c"], ["x", None, "z"])]
    assert write_gold(reader, data) == data
    assert write(reader, data, [["p", "q", "r"]]) == '{"text": "a b c", "label": "p q r"}\n'
    with pytest.raises(ValueError, match="f:1: 2 targets for 3 elements"):
        read(reader, b'{"text": "a b c", "label": "x y"}\n')


def test_several_keys_are_several_numbers() -> None:
    reader = jsonl(target=["x", "y"])
    data = b'{"text": "a b", "x": 1, "y": 2.5}\n{"text": "a b", "x": [1, 2], "y": null}\n'
    assert pairs(reader, data) == [
        (["a", "b"], [1, 2.5]),
        (["a", "b"], [[1, None], [2, None]]),
    ]
    assert write_gold(reader, data) == data
    written = write(reader, data, [[0.5, 3.0], [[1.0, 2.0], [3.0, 4.0]]])
    assert written == (
        '{"text": "a b", "x": 0.5, "y": 3.0}\n{"text": "a b", "x": [1.0, 3.0], "y": [2.0, 4.0]}\n'
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": 0}, "data.input=0: it must be a key of the JSON objects"),
        ({"input": ["a", "b"]}, r"data.input=\['a', 'b'\]: it must be a key"),
        ({"target": ["a", 1]}, "data.target=1: it must be a key"),
    ],
)
def test_columns_are_keys(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        jsonl(**changes)


@pytest.mark.parametrize(
    ("line", "changes", "value", "expected"),
    [
        ('{"text":"a","label":"x","n":1.50}', {}, "é", '{"text":"a","label":"é","n":1.50}'),
        ('{"label" : "x" , "text": "\\u0061"}', {}, "y", '{"label" : "y" , "text": "\\u0061"}'),
        ('{"text": "a"}', {}, "y", '{"text": "a", "label": "y"}'),
        ('{"text": "a" } ', {}, "y", '{"text": "a", "label": "y" } '),
        ('{"text": "a"}', {"target": None}, "y", '{"text": "a", "prediction": "y"}'),
        ('{"text": "a", "label": {"junk": 1}}', {}, "y", '{"text": "a", "label": "y"}'),
        ('{"text": "a", "label": [1, 2, 3]}', {}, 2.5, '{"text": "a", "label": 2.5}'),
        ('{"text": "a b"}', {}, ["x", "y"], '{"text": "a b", "label": ["x", "y"]}'),
        ('{"text": "a"}', {}, 0.123456789, '{"text": "a", "label": 0.1234568}'),
        ('{"text": "a"}', {}, [[1.0, 2e-9]], '{"text": "a", "label": [[1.0, 2e-09]]}'),
        ('{"text": ""}', {}, None, '{"text": "", "label": null}'),
        ('{"text": ""}', {}, [], '{"text": "", "label": []}'),
        ('{"text": "}", "o": "\\"label\\": {"}', {}, "y",
         '{"text": "}", "o": "\\"label\\": {", "label": "y"}'),
    ],
)  # fmt: skip
def test_predictions_change_the_target_and_nothing_else(
    line: str, changes: dict[str, Any], value: Any, expected: str
) -> None:
    reader = jsonl(read_target=False, **changes)
    assert write(reader, (line + "\n").encode(), [value]) == expected + "\n"


def test_probabilities_of_all_labels_have_a_key() -> None:
    data = b'{"text": "a", "label": "x"}\n'
    written = write(jsonl(), data, ["y"], [{"x": 0.123456789, "y": 0.876543211}])
    assert written == (
        '{"text": "a", "label": "y", "probabilities": {"x": 0.1234568, "y": 0.8765432}}\n'
    )
    again = write(jsonl(), written.encode(), ["y"], [{"y": 1.0}])
    assert again == '{"text": "a", "label": "y", "probabilities": {"y": 1.0}}\n'


def column_rows(line: str, **changes: Any) -> Any:
    return read(jsonl(max_line_bytes=10_000, **changes), line.encode())


@pytest.mark.parametrize(
    ("value", "features", "numbers"),
    [
        ('["p", "q"]', ["p", "q"], None),
        ('"p q"', ["p q", "p q"], None),
        ("[true, null]", ["true", ""], None),
        ("[1, 2.50]", ["1", "2.5"], [1.0, 2.5]),
        ('["-1", "_"]', ["-1", "_"], [-1.0, None]),
        ("[true, null]", ["true", ""], [1.0, None]),
        ("7", ["7", "7"], [7.0, 7.0]),
        ("null", ["", ""], [None, None]),
    ],
)
def test_features_are_of_each_element_or_of_all(value: str, features: Any, numbers: Any) -> None:
    line = f'{{"text": "a b", "label": "x", "f": {value}}}'
    (row,) = column_rows(line, features=["f"])
    assert row["features"] == {"f": features}
    if numbers is not None:
        (row,) = column_rows(line, numeric_features=["f"])
        assert row["features"] == {"f": numbers}


def test_without_feature_columns_a_row_has_no_features() -> None:
    (row,) = column_rows('{"text": "a", "label": "x"}')
    assert set(row) == {"tokens", "target", "file", "line", "leading", "raw"}


@pytest.mark.parametrize("mask", ['"10"', "[1, 0]", "[true, false]", '["1", "0"]'])
def test_a_mask_takes_targets_away(mask: str) -> None:
    line = f'{{"text": "a b", "label": ["x", "y"], "m": {mask}}}'
    (row,) = column_rows(line, mask="m", target_tokenizer=Whitespace())
    assert row["target"] == ["x", None]


def test_references_follow_the_target() -> None:
    changes = {"references": ["r", "s"], "sequence_tokenizer": Characters()}
    line = '{"text": "a", "label": "x", "r": %s, "s": %s}'
    expected = {
        ('"y"', "null"): ["x", "y"],
        ('["y", "z"]', '"x"'): ["x", "y", "z"],
        ("[]", '""'): None,
        ('"x"', "null"): None,
    }
    for (r, s), references in expected.items():
        (row,) = column_rows(line % (r, s), **changes)
        assert row.get("references") == references
    (row,) = column_rows('{"text": "a", "label": ["x", "y"], "r": "z", "s": null}', **changes)
    assert row["references"] == ["xy", "z"]


def test_further_elements_follow_the_input_with_a_mark() -> None:
    line = '{"text": ["a", "b"], "label": "x", "f": "V; PST;", "g": ["SG", "3"], "h": null}'
    (row,) = column_rows(line, further_input=["f", "g", "h"], features=["f"])
    assert row["tokens"] == ["a", "b", "+V", "+PST", "+SG", "+3"]
    assert row["features"] == {"f": ["V; PST;"] * 6}


def test_a_number_can_be_the_missing_mark() -> None:
    data = b'{"text": "a", "label": -100}\n{"text": "a b", "label": [1, -100]}\n'
    assert pairs(jsonl(missing="-100"), data) == [(["a"], None), (["a", "b"], [1, None])]


@pytest.mark.parametrize(
    ("line", "changes", "message"),
    [
        ('"f": ["p", "q", "r"]', {"features": ["f"]}, "3 values of the feature f for 2 elements"),
        ('"f": {}', {"features": ["f"]}, "the feature f: an object where one value is expected"),
        ('"f": [[1], 2]', {"features": ["f"]}, "the feature f: a list where one value"),
        ('"f": ["p", 1]', {"numeric_features": ["f"]}, "the feature f: 'p' is not a finite number"),
        ('"f": 1', {"features": ["g"]}, "data.features=g: no such key, the object has"),
        ('"f": 1', {"numeric_features": ["g"]}, "data.numeric_features=g: no such key"),
        ('"f": 1', {"further_input": ["f"]}, "data.further_input=f is a number; give a string"),
        ('"f": 1', {"mask": "f"}, "the mask is a number; give a string or a list of 0 and 1"),
        ('"f": "1"', {"mask": "f"}, "a mask of 1 for 2 elements"),
        ('"f": "12"', {"mask": "f"}, "data.mask=f holds '12'; it must be made of 0 and 1"),
        ('"f": 1', {"references": ["f"]}, "data.references=f: a number where a string is"),
        ('"f": [null, {}]', {"references": ["f"]}, "data.references=f: an object where a string"),
    ],
)
def test_a_bad_further_column_is_an_error(line: str, changes: Any, message: str) -> None:
    target = '["x", "y"]' if "mask" in changes else '"x"'
    if "mask" in changes:
        changes = changes | {"target_tokenizer": Whitespace()}
    if "references" in changes:
        changes = changes | {"sequence_tokenizer": Characters()}
    with pytest.raises(ValueError, match="f:1: ") as error:
        column_rows(f'{{"text": "a b", "label": {target}, {line}}}', **changes)
    assert message in str(error.value)


def test_references_without_a_target_are_an_error() -> None:
    changes = {"references": ["r"], "sequence_tokenizer": Characters()}
    with pytest.raises(
        ValueError, match=r"data.target=label is missing where there are references"
    ):
        column_rows('{"text": "a", "label": null, "r": "y"}', **changes)


def test_vectors_have_no_further_elements() -> None:
    with pytest.raises(ValueError, match="only tokens can follow the input's elements"):
        column_rows('{"text": [[1]], "label": 1, "f": "y"}', further_input=["f"])


def test_without_targets_references_and_mask_are_not_looked_at() -> None:
    changes = {"references": ["r"], "sequence_tokenizer": Characters(), "read_target": False}
    (row,) = column_rows('{"text": "a"}', **changes)
    assert "references" not in row


def test_several_labels_keep_their_names() -> None:
    reader = jsonl(label_tokenizer=Whitespace())
    lines = ['{"text": "a", "label": ["x", "_"]}', '{"text": "a", "label": "y x"}']
    data = ("\n".join(lines) + "\n").encode()
    assert pairs(reader, data) == [(["a"], ["x", "_"]), (["a"], ["y", "x"])]
    assert write(reader, data, [["_", "x"], ["x", "y"]]) == data.decode()
    assert write(reader, data, [[], []]) == '{"text": "a", "label": []}\n' * 2
    assert write(reader, data, [["z"], ["z"]]).count('"z"') == 2


class Faults:
    def __init__(self) -> None:
        self.errors: list[str] = []

    def error(self, message: str) -> None:
        self.errors.append(message)

    def warning(self, message: str) -> None:
        raise AssertionError(message)


def test_every_bad_line_is_told_and_the_others_are_read() -> None:
    good = '{"text": "a", "label": "x"}\n'
    data = (good + "{\n" + good + '{"text": 1, "label": "x"}\n' + good).encode()
    reader, faults = jsonl(), Faults()
    with reader.reporting(faults):
        rows = read(reader, data)
    assert [row["line"] for row in rows] == [1, 3, 5]
    assert [message[:4] for message in faults.errors] == ["f:2:", "f:4:"]
    assert "data.input=text is a number" in faults.errors[1]
