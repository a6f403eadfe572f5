"""The comparison anyone would write: node by node, in logarithms, each operation one numpy call over a block of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.circuit.arrays import CircuitArrays
from credo.circuit.kinds import LEAF, PRODUCT

BLOCK_ROWS = (256, 512, 1024, 2048, 4096)  # the quickest is taken; larger blocks fall out of the cache


class PlainNumpy:
    """A precise circuit with its logarithms taken once, evaluated by numpy alone."""

    def __init__(self, arrays: CircuitArrays) -> None:
        self._arrays = arrays
        with np.errstate(divide="ignore"):
            logs = np.log(arrays.centre)
        self._children = [arrays.children(node) for node in range(arrays.n_nodes)]
        self._log_weights = [logs[arrays.weights(node)] for node in range(arrays.n_nodes)]
        for node in np.flatnonzero(arrays.kind == LEAF):
            self._log_weights[node] = np.append(self._log_weights[node], 0.0)  # a missing cell has probability one
        self.block = BLOCK_ROWS[0]

    def log_likelihood(self, codes: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the log-probability of each row."""
        values = np.empty((self._arrays.n_nodes, self.block))
        states = np.where(codes < 0, self._arrays.column_size, codes).T
        result = np.empty(len(codes))
        for start in range(0, len(codes), self.block):
            here = np.ascontiguousarray(states[:, start : start + self.block], dtype=np.intp)
            result[start : start + self.block] = self._block(here, values[:, : here.shape[1]])
        return result

    def _block(self, states: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
        arrays = self._arrays
        for node in range(arrays.n_nodes):
            if arrays.kind[node] == LEAF:
                np.take(self._log_weights[node], states[arrays.column[node]], out=values[node], mode="clip")
                continue
            below = values[self._children[node]]
            if arrays.kind[node] == PRODUCT:
                below.sum(axis=0, out=values[node])
                continue
            below += self._log_weights[node][:, None]
            top = below.max(axis=0)
            below -= top
            np.exp(below, out=below)
            np.log(below.sum(axis=0), out=values[node])
            values[node] += top
        root: NDArray[np.float64] = values[-1]
        return root
