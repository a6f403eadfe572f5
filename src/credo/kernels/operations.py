"""The operations of a program, as rows (operation, target slot, a, b, first): `first` is 1 when the slot is still empty."""

BINARY_LEAVES = 0  # target *= product of the leaves a .. a+b-1, all with the states 0, 1 and missing
LEAVES = 1  # the same for leaves with any number of states
TIMES = 2  # target *= slot a
ADD = 3  # target += weight b * slot a
INTERVALS = 4  # target = best sum over the b slots from target on, weight intervals from position a on
VERTICES = 5  # the same over the vertices listed in `vertex_sets` at row a
COPY = 6  # target = slot a
