"""Numbers and texts between Python and Arrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from zealous.files.numbers import from_numpy, text_array, to_numpy


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("values", [[], [3], [1, -2, 0]])
def test_numbers_are_the_same_in_arrow(values: list[int], kind: type[np.generic]) -> None:
    numbers = np.array(values, kind)
    assert from_numpy(numbers).equals(pa.array(numbers))
    assert to_numpy(from_numpy(numbers)).dtype == kind
    assert to_numpy(from_numpy(numbers)).tolist() == values


@pytest.mark.parametrize("kind", [pa.int32(), pa.int64()])
def test_a_column_is_one_array_and_what_is_missing_is_0(kind: pa.DataType) -> None:
    pieces = [pa.array(each, kind) for each in ([5, None, 7], [], [9])]
    assert to_numpy(pa.chunked_array(pieces, kind)).tolist() == [5, 0, 7, 9]
    assert to_numpy(pieces[0].slice(1)).tolist() == [0, 7]
    assert to_numpy(pa.chunked_array([], kind)).tolist() == []


@pytest.mark.parametrize("text", ["", "tea", "é\n\0"])
def test_one_text(text: str) -> None:
    assert text_array(text).to_pylist() == [text]
    assert text_array(text).type == pa.large_string()
