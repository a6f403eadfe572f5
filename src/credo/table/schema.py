"""What the columns of a table are called and which values they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any

import numpy as np

from credo.errors import EvidenceError, SchemaError

Label = str | int | float | bool
ColumnSpec = int | Sequence[Label]

MOST_VALUES = 32_000  # states of a column fit 16 bits, missing included


@dataclass(frozen=True)
class Column:
    """A categorical column: a name, a number of values, and labels for them if it has any.

    Examples
    --------
    >>> from credo.table.schema import Column
    >>> Column("smoker", 2, ("no", "yes"))
    smoker: no | yes
    """

    name: str
    size: int
    labels: tuple[Label, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(f"a column name must be a non-empty string, got {self.name!r}")
        if not 2 <= self.size <= MOST_VALUES:
            raise SchemaError(f"column {self.name!r} must have between 2 and {MOST_VALUES} values, got {self.size}")
        if self.labels is not None:
            if len(self.labels) != self.size:
                raise SchemaError(f"column {self.name!r} has {self.size} values but {len(self.labels)} labels")
            for label in self.labels:
                if not isinstance(label, str | int | float | bool) or label != label:
                    raise SchemaError(f"column {self.name!r}: a label must be a string, a number or a boolean, got {label!r}")
            if len(set(self.labels)) != self.size:
                repeated = sorted({str(label) for label in self.labels if self.labels.count(label) > 1})
                raise SchemaError(f"column {self.name!r} has a label twice: {', '.join(repeated)}")

    def code(self, value: object) -> int:
        """Return the code of a label, or of a code where there are no labels."""
        if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
            value = value.item()
        if self.labels is not None:
            try:
                return self._codes[isinstance(value, str), value]
            except (KeyError, TypeError):  # unknown, or not hashable
                raise EvidenceError(f"column {self.name!r} has no value {value!r}; it has {_listed(self.labels)}") from None
        try:
            code = index(value)  # type: ignore[arg-type]
        except TypeError:
            code = -1
        if not 0 <= code < self.size:
            raise EvidenceError(f"column {self.name!r} has no value {value!r}; it has the codes 0 to {self.size - 1}")
        return code

    def shown(self, code: int) -> str:
        """Return the label of a code as text."""
        return str(code if self.labels is None else self.labels[code])

    @cached_property
    def _codes(self) -> dict[tuple[bool, object], int]:
        """The code of each label; a text never equals a number, whatever they think of each other."""
        return {(isinstance(label, str), label): code for code, label in enumerate(self.labels or ())}

    def __repr__(self) -> str:
        return f"{self.name}: " + (f"{self.size} values" if self.labels is None else _listed(self.labels, " | "))


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in their order.

    Examples
    --------
    >>> from credo import Schema
    >>> schema = Schema.of({"X1": 2, "X2": ["no", "yes"]})
    >>> schema
    Schema(X1: 2 values; X2: no | yes)
    >>> schema.position("X2")
    1
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        names = self.names
        if not names:
            raise SchemaError("there must be at least one column")
        if len(set(names)) != len(names):
            raise SchemaError(
                f"column names must differ, got {_listed(sorted({name for name in names if names.count(name) > 1}))} more than once"
            )

    @classmethod
    def of(cls, columns: Mapping[str, ColumnSpec]) -> Schema:
        """Return the schema of a mapping from names to numbers of values, or to labels."""
        if not isinstance(columns, Mapping):
            raise SchemaError(f"columns must be a mapping such as {{'X1': 2, 'X2': ['no', 'yes']}}, got {columns!r}")
        return cls(tuple(_column(name, spec) for name, spec in columns.items()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each column."""
        return tuple(column.size for column in self.columns)

    def position(self, name: object) -> int:
        """Return the position of a column, or say which columns there are."""
        try:
            return self._positions[name]  # type: ignore[index]
        except (KeyError, TypeError):
            raise EvidenceError(f"there is no column {name!r}; the columns are {_listed(self.names)}") from None

    @cached_property
    def smallest_size(self) -> int:
        """The smallest number of values of any column."""
        return min(self.sizes)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        return f"Schema({'; '.join(map(repr, self.columns))})"


def _column(name: str, spec: ColumnSpec) -> Column:
    if isinstance(spec, str) or not isinstance(spec, Iterable):
        try:
            return Column(name, index(spec))  # type: ignore[arg-type]
        except TypeError:
            raise SchemaError(f"column {name!r} needs a number of values or a list of labels, got {spec!r}") from None
    if isinstance(spec, set | frozenset):
        raise SchemaError(f"column {name!r}: the labels are a set, which has no order, so their codes would be arbitrary; use a list")
    labels = tuple(label.item() if isinstance(label, np.generic) else label for label in spec)
    return Column(name, len(labels), labels)


def _listed(values: Sequence[Any], between: str = ", ") -> str:
    shown = [str(value) for value in values]
    return between.join(shown if len(shown) <= 12 else [*shown[:10], f"... {len(shown)} in all"])
