"""SPFlow: modules of torch. Products of leaves below one sum become the channels of one leaf module, as its own learner does it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
from numpy.typing import NDArray
from spflow.learn.learn_spn import learn_spn, partition_by_rdc  # type: ignore[import-not-found]
from spflow.meta.data import Scope  # type: ignore[import-not-found]
from spflow.modules.leaves import Bernoulli, Categorical  # type: ignore[import-not-found]
from spflow.modules.products import Product  # type: ignore[import-not-found]
from spflow.modules.sums import Sum  # type: ignore[import-not-found]

from benchmarks.peer_workers.protocol import LEAF, PRODUCT, SUM, Configuration, PlainCircuit, serve

PRECISIONS = {"single": torch.float32, "double": torch.float64}
DEEPEST = 20_000  # calls in each other; learn_spn calls itself anew for a slice of which k-means made one cluster
FURTHEST = 1e-6  # probabilities of leaves stay so far from 0 and 1; its learner leaves log-likelihoods that are not a number


class SPFlow:
    """Evaluates `log_likelihood` without gradients, and learns by its LearnSPN with the settings that it has unless told otherwise."""

    package = "spflow"
    learning = f"k-means in 2, RDC (0.3; constant columns apart), at least 100 rows to cluster, leaves kept {FURTHEST:g} from 0 and 1"

    def configurations(self) -> list[Configuration]:
        return [
            {"leaf": leaf, "precision": precision, "tolerance": 1e-6 if precision == "double" else 1e-3}
            for leaf in ("Bernoulli", "Categorical")
            for precision in ("single", "double")
        ]

    def build(self, circuit: PlainCircuit, configuration: Configuration) -> None:
        torch.set_num_threads(1)
        torch.set_default_dtype(PRECISIONS[configuration["precision"]])
        self._circuit, self._leaf = circuit, configuration["leaf"]
        modules: dict[int, Any] = {}
        for node in range(circuit.n_nodes):
            if circuit.kind[node] == SUM:
                modules[node] = self._sum(node, modules)
            elif circuit.kind[node] == PRODUCT and not circuit.is_product_of_leaves(node):
                modules[node] = self._product(node, modules)
        self._root = modules[circuit.n_nodes - 1]

    def convert(self, codes: NDArray[np.int8]) -> Any:
        return torch.tensor(np.where(codes < 0, np.nan, codes), dtype=torch.get_default_dtype())

    def log_likelihood(self, batch: Any) -> NDArray[np.floating[Any]]:
        with torch.inference_mode():
            values: NDArray[np.floating[Any]] = self._root.log_likelihood(batch).reshape(-1).numpy()
        return values

    def learn(self, batch: Any, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        sys.setrecursionlimit(DEEPEST)
        self._root = learn_spn(batch, Bernoulli(Scope(list(range(batch.shape[1])))), partitioning_method=_groups)
        for leaf in self._learned(Bernoulli):
            leaf.probs = leaf.probs.clamp(FURTHEST, 1 - FURTHEST)

    def n_nodes(self) -> int:
        return sum(module.out_shape.features * module.out_shape.channels for module in self._learned(Bernoulli, Product, Sum))

    def _learned(self, *kinds: Any) -> list[Any]:
        return [module for module in self._root.modules() if isinstance(module, kinds)]

    def _sum(self, node: int, modules: dict[int, Any]) -> Any:
        children, weights = self._circuit.children(node), self._circuit.weights(node)
        alike = [i for i, child in enumerate(children) if self._circuit.is_product_of_leaves(child)]
        others = [i for i in range(len(children)) if i not in alike]
        inputs = [modules[children[i]] for i in others]
        if alike:
            inputs.insert(0, Product(self._leaves([self._circuit.leaves_by_column(children[i]) for i in alike])))
        ordered = torch.tensor(weights[alike + others], dtype=torch.get_default_dtype())
        return Sum(inputs if len(inputs) > 1 else inputs[0], weights=ordered[None, :, None, None])

    def _product(self, node: int, modules: dict[int, Any]) -> Any:
        inner = [modules[child] for child in self._circuit.children(node) if self._circuit.kind[child] != LEAF]
        leaves = self._circuit.leaves_by_column(node)
        inputs = [self._leaves([leaves]), *inner] if leaves else inner
        return Product(inputs if len(inputs) > 1 else inputs[0])

    def _leaves(self, channels: list[list[int]]) -> Any:
        columns = [int(self._circuit.column[leaf]) for leaf in channels[0]]
        weights = np.array([[self._circuit.weights(leaf) for leaf in leaves] for leaves in channels])  # (channels, columns, values)
        probs = torch.tensor(weights.transpose(1, 0, 2)[:, :, None], dtype=torch.get_default_dtype())
        if self._leaf == "Bernoulli":
            return Bernoulli(Scope(columns), out_channels=len(channels), probs=probs[..., 1].contiguous(), validate_args=False)
        return Categorical(Scope(columns), out_channels=len(channels), K=2, probs=probs.contiguous(), validate_args=False)


def _groups(rows: Any) -> Any:
    """Return the group of each column by SPFlow's own test, which binary columns break.

    It fails on pairs of columns that are constant, which are groups of their own here, and now and then on columns that are alike,
    which are then one group together with the others.
    """
    groups = torch.arange(rows.shape[1])
    varying = (rows != rows[0]).any(dim=0)
    if varying.sum() > 1:
        try:
            groups[varying] = partition_by_rdc(rows[:, varying]).to(groups.dtype) + rows.shape[1]
        except RuntimeError:
            groups[varying] = rows.shape[1]
    return groups


if __name__ == "__main__":
    serve(SPFlow)
