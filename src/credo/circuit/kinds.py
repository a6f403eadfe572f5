"""The kinds of nodes and of credal sets, as the arrays of a circuit hold them."""

LEAF, PRODUCT, SUM = 0, 1, 2
KIND_NAMES = ("leaf", "product", "sum")

NO_SET, PRECISE, INTERVALS, VERTICES, CONTAMINATED = 0, 1, 2, 3, 4
