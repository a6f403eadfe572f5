"""The public circuit: arrays with names, and every question that can be asked of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.bounds import Bounds
from credo.circuit.arrays import CircuitArrays
from credo.errors import CircuitError
from credo.infer import likelihood
from credo.infer.compatible import Choice, compatible
from credo.infer.evidence import allowed_values, checked_codes
from credo.infer.likelihood import Solver
from credo.infer.program import Program, compile_program
from credo.model import drawing, text
from credo.model.files import save_circuit
from credo.table.schema import Schema


class Circuit:
    """A credal sum-product circuit over named columns: immutable, safe to query from many threads.

    Circuits are built with `CircuitBuilder`, learned, or read with `load`. Low-level calls take codes, 0 to K-1 with -1 for
    missing; calls by name take labels.

    Parameters
    ----------
    arrays : CircuitArrays
        The nodes. They must be complete and decomposable.
    schema : Schema
        The names and labels of the columns.

    Examples
    --------
    >>> from credo import CircuitBuilder, Intervals
    >>> b = CircuitBuilder({"smoker": ["no", "yes"]})
    >>> circuit = b.freeze(b.leaf("smoker", Intervals([0.6, 0.2], [0.8, 0.4])))
    >>> circuit
    Circuit(1 node, 0 edges; credal, tree; smoker: no | yes)
    >>> circuit.probability({"smoker": "yes"})
    [0.200, 0.400]
    >>> circuit.is_tree, circuit.is_precise, circuit.n_parameters
    (True, False, 2)
    """

    def __init__(self, arrays: CircuitArrays, schema: Schema) -> None:
        if schema.sizes != tuple(arrays.column_size.tolist()):
            raise CircuitError(f"the schema has columns of {schema.sizes} values, the circuit of {tuple(arrays.column_size.tolist())}")
        if arrays.violations:
            raise CircuitError("\n".join(violation.message(schema.names) for violation in arrays.violations))
        self._arrays = arrays
        self._schema = schema

    @property
    def arrays(self) -> CircuitArrays:
        """The nodes as flat read-only arrays, with their facts."""
        return self._arrays

    @property
    def schema(self) -> Schema:
        """The names and labels of the columns."""
        return self._schema

    @property
    def n_nodes(self) -> int:
        """Number of nodes; a leaf is one node, whatever its number of values."""
        return self._arrays.n_nodes

    @property
    def n_edges(self) -> int:
        """Number of children of all sums and products."""
        return self._arrays.n_edges

    @property
    def n_parameters(self) -> int:
        """Number of weights: one for each child of a sum and each value of a leaf that is no indicator."""
        return self._arrays.n_parameters

    @property
    def n_extreme_points(self) -> int:
        """Number of extreme points kept for the credal sets with more than one point: of intervals, the limited ones."""
        return self._arrays.n_extreme_points

    @property
    def depth(self) -> int:
        """Number of edges on the longest path from the root to a leaf."""
        return self._arrays.depth

    @property
    def is_complete(self) -> bool:
        """Whether the children of every sum have the same columns: always true of a circuit that could be made."""
        return self._arrays.is_complete

    @property
    def is_decomposable(self) -> bool:
        """Whether the children of every product share no column: always true of a circuit that could be made."""
        return self._arrays.is_decomposable

    @property
    def is_tree(self) -> bool:
        """Whether no credal set with more than one point is reached from the root by two paths."""
        return self._arrays.is_tree

    @property
    def is_selective(self) -> bool:
        """Whether at most one child of every sum can be positive for any row, as found from the columns' possible values."""
        return self._arrays.is_selective

    @property
    def is_precise(self) -> bool:
        """Whether every credal set is a single point, so that lower and upper values agree."""
        return self._arrays.is_precise

    @cached_property
    def _program(self) -> Program:
        return compile_program(self._arrays)

    def log_bounds(self, codes: ArrayLike, solver: Solver = "greedy") -> NDArray[np.float64]:
        """Return lower and upper log-probabilities of rows of evidence; missing cells are summed over.

        Parameters
        ----------
        codes : array-like of int, (rows, columns)
            The code of each cell, -1 for missing.
        solver : {"greedy", "vertices", "lp"}
            How the best weights of a node are found: by filling the best children first, by trying every extreme point
            (at most 12 children), or by a linear program. They agree; the last two are slow and there to check.

        Returns
        -------
        array of float, (rows, 2)
            Lower and upper; minus infinity for probability 0.

        Examples
        --------
        >>> import numpy as np
        >>> from credo import CircuitBuilder, Intervals
        >>> b = CircuitBuilder({"x": 2})
        >>> circuit = b.freeze(b.leaf("x", Intervals([0.6, 0.2], [0.8, 0.4])))
        >>> np.exp(circuit.log_bounds([[1], [-1]])).round(3).tolist()
        [[0.2, 0.4], [1.0, 1.0]]
        """
        return likelihood.log_bounds(self._arrays, self._program, checked_codes(codes, self._schema), solver)

    def log_likelihood(self, codes: ArrayLike) -> NDArray[np.float64]:
        """Return log-probabilities of rows of evidence under a precise circuit; missing cells are summed over.

        Examples
        --------
        >>> import numpy as np
        >>> from credo import CircuitBuilder
        >>> b = CircuitBuilder({"x": 2})
        >>> np.exp(b.freeze(b.leaf("x", [0.75, 0.25])).log_likelihood([[1], [0]])).round(3).tolist()
        [0.25, 0.75]
        """
        if not self.is_precise:
            raise CircuitError("this circuit is credal: it has no single log-likelihood; log_bounds gives the lower and upper ones")
        return likelihood.log_likelihood(self._arrays, self._program, checked_codes(codes, self._schema))

    def probability(self, event: Mapping[str, object]) -> Bounds:
        """Return the lower and upper probability of an event.

        Parameters
        ----------
        event : mapping
            For each column that matters its value: a label (a code where the column has no labels), or a set of them.

        Examples
        --------
        >>> from credo import CircuitBuilder, Intervals
        >>> b = CircuitBuilder({"colour": ["red", "green", "blue"]})
        >>> circuit = b.freeze(b.leaf("colour", Intervals([0.2, 0.3, 0.2], [0.4, 0.55, 0.48])))
        >>> circuit.probability({"colour": "red"})
        [0.200, 0.400]
        >>> circuit.probability({"colour": {"red", "green"}})
        [0.520, 0.800]
        """
        low, high = likelihood.log_bounds_of_values(self._arrays, self._program, allowed_values(event, self._schema))
        return Bounds(math.exp(low), math.exp(high))

    def compatible(self, choice: Choice = "centre") -> Circuit:
        """Return a precise circuit that lies in this one: one point chosen in every credal set.

        Parameters
        ----------
        choice : {"centre", "vertex_mean"}
            The point that stands for the set (observed proportions where it was learned), or the mean of its extreme points
            (the limited ones of intervals).

        Examples
        --------
        >>> from credo import CircuitBuilder, Contaminated
        >>> b = CircuitBuilder({"x": 2})
        >>> circuit = b.freeze(b.leaf("x", Contaminated([0.9, 0.1], 0.5)))
        >>> circuit.compatible().probability({"x": 1}), circuit.compatible("vertex_mean").probability({"x": 1})
        ([0.100, 0.100], [0.300, 0.300])
        """
        return Circuit(compatible(self._arrays, choice), self._schema)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the circuit to one file, readable by `credo.load`; an existing file is replaced in one step.

        Raises
        ------
        PathError
            Where the file cannot be written; nothing is left behind then, and an existing file stays as it was.

        Examples
        --------
        >>> import tempfile, pathlib, credo
        >>> b = credo.CircuitBuilder({"x": 2})
        >>> circuit = b.freeze(b.leaf("x", [0.75, 0.25]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     circuit.save(pathlib.Path(folder) / "c.credo")
        ...     credo.load(pathlib.Path(folder) / "c.credo") == circuit
        True
        """
        save_circuit(self._arrays, self._schema, path)

    def to_text(self) -> str:
        """Return the circuit in words, one line a node, for reading and for comparing two circuits line by line.

        Circuits that differ have texts that differ: numbers have all their digits, names that are not plain words are quoted, the
        centre of a credal set is told where it is not the default one, and so is how a set was given where intervals do not tell.

        Examples
        --------
        >>> from credo import CircuitBuilder, Intervals
        >>> b = CircuitBuilder({"smoker": ["no", "yes"]})
        >>> print(b.freeze(b.leaf("smoker", Intervals([0.6, 0.2], [0.8, 0.4]))).to_text())
        circuit of 1 node over 1 column
        column smoker: no | yes
        leaf 0 smoker: no [0.6, 0.8], yes [0.2, 0.4]
        <BLANKLINE>
        """
        return text.to_text(self._arrays, self._schema)

    def draw(self, path: str | PathLike[str], max_nodes: int = 300) -> Path:
        """Draw the circuit and return the file written.

        The ending of `path` says what is written: `.dot` or `.gv` for graphviz source, `.svg`, `.png` or `.pdf` for a
        picture, for which the program `dot` of graphviz must be installed. The source is written beside a picture, too, unless
        there is a file of that name that Credo did not write, which is an error.

        Parameters
        ----------
        path : path
            Where to write.
        max_nodes : int
            Parts of the circuit farthest from the root are drawn as one box each where there would be more nodes; where not even
            the children of the root fit, the first of them are drawn.

        Examples
        --------
        >>> import tempfile, pathlib, credo
        >>> b = credo.CircuitBuilder({"x": 2})
        >>> circuit = b.freeze(b.leaf("x", [0.75, 0.25]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     circuit.draw(pathlib.Path(folder) / "c.dot").read_text().splitlines()[0]
        'digraph circuit {'
        """
        return drawing.draw(self._arrays, self._schema, Path(path), max_nodes)

    def __reduce__(self) -> tuple[type[Circuit], tuple[CircuitArrays, Schema]]:
        return Circuit, (self._arrays, self._schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Circuit) and self._schema == other._schema and self._arrays == other._arrays

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        nodes = f"{self.n_nodes} node{'s' if self.n_nodes != 1 else ''}"
        kind = "precise" if self.is_precise else "credal"
        shape = "tree" if self.is_tree else "shared nodes"
        shown = [repr(column) for column in self._schema.columns[:6]]
        more = [f"... {len(self._schema)} columns"] if len(self._schema) > 6 else []
        return f"Circuit({nodes}, {self.n_edges} edges; {kind}, {shape}; {'; '.join(shown + more)})"
