"""deeprob-kit: one object a node, values of all nodes kept in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from deeprob.context import ContextState  # type: ignore[import-not-found]
from deeprob.spn.algorithms.evaluation import eval_bottom_up  # type: ignore[import-not-found]
from deeprob.spn.algorithms.inference import node_log_likelihood  # type: ignore[import-not-found]
from deeprob.spn.learning.wrappers import learn_estimator  # type: ignore[import-not-found]
from deeprob.spn.structure.leaf import Bernoulli, Categorical  # type: ignore[import-not-found]
from deeprob.spn.structure.node import Product, Sum, assign_ids, bfs  # type: ignore[import-not-found]
from numpy.typing import NDArray

from benchmarks.peer_workers.protocol import LEAF, PRODUCT, Configuration, PlainCircuit, serve


class DeeprobKit:
    """Evaluates by the function that `log_likelihood` is made of, with one thread and without checking the circuit each time.

    Learns by LearnSPN with what is nearest to Credo's of its ways to cluster rows and to separate columns, with the settings
    that were best on the benchmark tables of the field.
    """

    package = "deeprob-kit"
    learning = "k-means in 2, G test (gvs, p=10), at least 50 rows to cluster, smoothing 0.1"

    def configurations(self) -> list[Configuration]:
        return [{"leaf": "Categorical", "tolerance": 1e-4}, {"leaf": "Bernoulli", "tolerance": 1e-4}]

    def build(self, circuit: PlainCircuit, configuration: Configuration) -> None:
        made: list[Any] = []
        for node in range(circuit.n_nodes):
            children = [made[child] for child in circuit.children(node)]
            if circuit.kind[node] == LEAF:
                column, weights = int(circuit.column[node]), circuit.weights(node)
                by_values = configuration["leaf"] == "Categorical"
                made.append(Categorical(column, [0, 1], weights) if by_values else Bernoulli(column, float(weights[1])))
            elif circuit.kind[node] == PRODUCT:
                made.append(Product(children=children))
            else:
                made.append(Sum(children=children, weights=circuit.weights(node).astype(np.float32)))
        self._root = assign_ids(made[-1])

    def convert(self, codes: NDArray[np.int8]) -> Any:
        return np.where(codes < 0, np.nan, codes).astype(np.float32)

    def log_likelihood(self, batch: Any) -> NDArray[np.floating[Any]]:
        with ContextState(check_spn=False):
            values: NDArray[np.floating[Any]] = eval_bottom_up(
                self._root, batch, leaf_func=node_log_likelihood, node_func=node_log_likelihood, n_jobs=1
            )
        return values

    def learn(self, batch: Any, seed: int) -> None:
        n_columns = batch.shape[1]
        self._root = learn_estimator(
            batch,
            [Bernoulli] * n_columns,
            [[0, 1]] * n_columns,
            split_rows="kmeans",
            split_rows_kwargs={"n": 2},
            split_cols="gvs",
            split_cols_kwargs={"p": 10.0},
            min_rows_slice=50,
            random_state=seed,
            verbose=False,
        )

    def n_nodes(self) -> int:
        return sum(1 for _ in bfs(self._root))


if __name__ == "__main__":
    serve(DeeprobKit)
