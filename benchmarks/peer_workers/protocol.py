"""What a worker does for the benchmark: one JSON object a line comes in, one goes out; circuits and rows are files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

LEAF, PRODUCT, SUM = 0, 1, 2

Configuration = dict[str, Any]


class PlainCircuit:
    """The neutral file: flat arrays, children before parents, the root last."""

    def __init__(self, path: str) -> None:
        with np.load(path) as arrays:
            self.column_size: NDArray[np.int32] = arrays["column_size"]
            self.kind: NDArray[np.uint8] = arrays["kind"]
            self.column: NDArray[np.int32] = arrays["column"]
            self._child_offset, self._child = arrays["child_offset"], arrays["child"]
            self._weight_offset, self._weight = arrays["weight_offset"], arrays["weight"]
        if (self.column_size != 2).any():
            raise ValueError("the workers know binary columns only")

    @property
    def n_nodes(self) -> int:
        return len(self.kind)

    def children(self, node: int) -> list[int]:
        found: list[int] = self._child[self._child_offset[node] : self._child_offset[node + 1]].tolist()
        return found

    def weights(self, node: int) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._weight[self._weight_offset[node] : self._weight_offset[node + 1]]
        return found

    def is_product_of_leaves(self, node: int) -> bool:
        return bool(self.kind[node] == PRODUCT and (self.kind[self.children(node)] == LEAF).all())

    def leaves_by_column(self, node: int) -> list[int]:
        """Return the leaves below a product in the order of their columns."""
        return sorted((child for child in self.children(node) if self.kind[child] == LEAF), key=lambda leaf: int(self.column[leaf]))


class Peer(Protocol):
    """A library that evaluates the circuit."""

    package: str

    def configurations(self) -> list[Configuration]:
        """Return the ways of using the library among which the quickest is looked for."""

    def build(self, circuit: PlainCircuit, configuration: Configuration) -> None:
        """Build the circuit in the library; not timed."""

    def convert(self, codes: NDArray[np.int8]) -> Any:
        """Return codes, -1 for missing, as the library wants them; not timed."""

    def log_likelihood(self, batch: Any) -> NDArray[np.floating[Any]]:
        """Return the log-probability of each converted row; timed."""


@runtime_checkable
class Learner(Peer, Protocol):
    """A library that learns a circuit, too; what it has learned is then evaluated in place of one that was built."""

    learning: str  # the algorithm and its settings, for the table

    def learn(self, batch: Any, seed: int) -> None:
        """Learn a circuit from converted rows without missing cells; timed."""

    def n_nodes(self) -> int:
        """Return the number of nodes of the circuit: sums, products and leaves, one each."""


def serve(make_peer: Callable[[], Peer]) -> None:
    """Answer requests until the input ends. Whatever the library prints goes to the error stream."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker: _Worker | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            worker = worker or _Worker(make_peer())
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:  # whatever goes wrong in the library is the answer
            answer = {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"}
        replies.write(json.dumps(answer) + "\n")


class _Worker:
    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._circuit: PlainCircuit | None = None
        self._rows: dict[str, NDArray[np.int8]] = {}

    def load(self, rows: dict[str, str], circuit: str | None = None) -> dict[str, Any]:
        self._circuit = None if circuit is None else PlainCircuit(circuit)
        self._rows = {name: np.load(path) for name, path in rows.items()}
        return {"version": version(self._peer.package), "configurations": self._peer.configurations()}

    def build(self, configuration: Configuration) -> dict[str, Any]:
        assert self._circuit is not None
        start = perf_counter()
        self._peer.build(self._circuit, configuration)
        return {"seconds": perf_counter() - start}

    def learn(self, rows: str, seed: int, n_rows: int | None = None, n_columns: int | None = None) -> dict[str, Any]:
        if not isinstance(self._peer, Learner):
            raise TypeError(f"{self._peer.package} learns no circuits here")
        batch = self._peer.convert(self._rows[rows][:n_rows, :n_columns])
        start = perf_counter()
        self._peer.learn(batch, seed)
        passed = perf_counter() - start
        return {"seconds": passed, "nodes": self._peer.n_nodes(), "learning": self._peer.learning}

    def evaluate(self, rows: str, n_rows: int, batch: int, out: str | None = None) -> dict[str, Any]:
        codes = self._rows[rows][:n_rows]
        batches = [self._peer.convert(codes[start : start + batch]) for start in range(0, len(codes), batch)]
        start = perf_counter()
        found = [self._peer.log_likelihood(one) for one in batches]
        passed = perf_counter() - start
        if out is not None:
            np.save(out, np.concatenate(found).astype(np.float64))
        return {"seconds": passed, "rows": len(codes)}
