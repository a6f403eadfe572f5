"""cirkit: layers composed symbolically and compiled for torch. A missing cell is a third state of probability one."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found]
from cirkit.pipeline import PipelineContext  # type: ignore[import-not-found]
from cirkit.symbolic.circuit import Circuit  # type: ignore[import-not-found]
from cirkit.symbolic.layers import CategoricalLayer, EmbeddingLayer, HadamardLayer, SumLayer  # type: ignore[import-not-found]
from cirkit.symbolic.parameters import ConstantParameter, Parameter  # type: ignore[import-not-found]
from cirkit.utils.scope import Scope  # type: ignore[import-not-found]
from numpy.typing import NDArray

from benchmarks.peer_workers.protocol import LEAF, PRODUCT, SUM, Configuration, PlainCircuit, serve

MISSING_STATE = 2
PRECISIONS = {"single": torch.float32, "double": torch.float64}


class Cirkit:
    """Evaluates the compiled circuit without gradients."""

    package = "libcirkit"

    def configurations(self) -> list[Configuration]:
        return [
            {"folded": folded, "semiring": semiring, "precision": precision, "tolerance": 1e-6 if precision == "double" else 1e-3}
            for folded in (True, False)
            for semiring in ("lse-sum", "sum-product")
            for precision in ("single", "double")
        ]

    def build(self, circuit: PlainCircuit, configuration: Configuration) -> None:
        torch.set_num_threads(1)
        torch.set_default_dtype(PRECISIONS[configuration["precision"]])
        self._in_logarithms = configuration["semiring"] == "lse-sum"
        symbolic = _Composer(circuit, self._in_logarithms).compose()
        context = PipelineContext(backend="torch", semiring=configuration["semiring"], fold=configuration["folded"], optimize=True)
        self._compiled: Any = context.compile(symbolic)

    def convert(self, codes: NDArray[np.int8]) -> Any:
        return torch.tensor(np.where(codes < 0, MISSING_STATE, codes), dtype=torch.int64)

    def log_likelihood(self, batch: Any) -> NDArray[np.floating[Any]]:
        with torch.inference_mode():
            values = self._compiled(batch).reshape(-1)
            found: NDArray[np.floating[Any]] = (values if self._in_logarithms else torch.log(values)).numpy()
        return found


class _Composer:
    """Makes the symbolic layers: products of leaves below one sum share layers, of which they are the units.

    A layer for each node apart was measured, too: it takes two to ten times as long.
    """

    def __init__(self, circuit: PlainCircuit, in_logarithms: bool) -> None:
        self._circuit, self._in_logarithms = circuit, in_logarithms
        self._layers: list[Any] = []
        self._inputs: dict[Any, list[Any]] = {}

    def compose(self) -> Circuit:
        made: dict[int, Any] = {}
        for node in range(self._circuit.n_nodes):
            if self._circuit.kind[node] == SUM:
                made[node] = self._sum(node, made)
            elif self._circuit.kind[node] == PRODUCT and not self._circuit.is_product_of_leaves(node):
                made[node] = self._product(node, made)
        return Circuit(self._layers, self._inputs, [made[self._circuit.n_nodes - 1]])

    def _sum(self, node: int, made: dict[int, Any]) -> Any:
        children, weights = self._circuit.children(node), self._circuit.weights(node)
        alike = [i for i, child in enumerate(children) if child not in made]
        others = [i for i in range(len(children)) if i not in alike]
        if not alike:
            return self._add(SumLayer(1, 1, arity=len(children), weight=_constant(weights[None])), [made[child] for child in children])
        units = self._products_of_leaves([self._circuit.leaves_by_column(children[i]) for i in alike])
        together = self._add(SumLayer(len(alike), 1, weight=_constant(weights[alike][None])), [units])
        if not others:
            return together
        outer = np.concatenate([[1.0], weights[others]])
        inputs = [together, *(made[children[i]] for i in others)]
        return self._add(SumLayer(1, 1, arity=len(outer), weight=_constant(outer[None])), inputs)

    def _product(self, node: int, made: dict[int, Any]) -> Any:
        inputs = [self._leaf([child]) if self._circuit.kind[child] == LEAF else made[child] for child in self._circuit.children(node)]
        return self._add(HadamardLayer(1, arity=len(inputs)), inputs) if len(inputs) > 1 else inputs[0]

    def _products_of_leaves(self, units: list[list[int]]) -> Any:
        inputs = [self._leaf(list(leaves)) for leaves in zip(*units, strict=True)]
        return self._add(HadamardLayer(len(units), arity=len(inputs)), inputs) if len(inputs) > 1 else inputs[0]

    def _leaf(self, leaves: list[int]) -> Any:
        scope = Scope([int(self._circuit.column[leaves[0]])])
        values = np.array([[*self._circuit.weights(leaf), 1.0] for leaf in leaves])
        if self._in_logarithms:
            return self._add(CategoricalLayer(scope, len(leaves), num_categories=3, logits=_constant(np.log(values))), [])
        return self._add(EmbeddingLayer(scope, len(leaves), num_states=3, weight=_constant(values)), [])

    def _add(self, layer: Any, inputs: list[Any]) -> Any:
        self._layers.append(layer)
        if inputs:
            self._inputs[layer] = inputs
        return layer


def _constant(values: NDArray[np.float64]) -> Parameter:
    return Parameter.from_input(ConstantParameter(*values.shape, value=values))


if __name__ == "__main__":
    serve(Cirkit)
