"""SPFlow: modules of torch. Products of leaves below one sum become the channels of one leaf module, as its own learner does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
from numpy.typing import NDArray
from spflow.meta.data import Scope  # type: ignore[import-not-found]
from spflow.modules.leaves import Bernoulli, Categorical  # type: ignore[import-not-found]
from spflow.modules.products import Product  # type: ignore[import-not-found]
from spflow.modules.sums import Sum  # type: ignore[import-not-found]

from benchmarks.peer_workers.protocol import LEAF, PRODUCT, SUM, Configuration, PlainCircuit, serve

PRECISIONS = {"single": torch.float32, "double": torch.float64}


class SPFlow:
    """Evaluates `log_likelihood` without gradients."""

    package = "spflow"

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


if __name__ == "__main__":
    serve(SPFlow)
