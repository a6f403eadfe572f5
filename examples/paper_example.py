"""The credal sum-product network of Levray and Belle (2020), built by hand, and the bounds it gives.

Two columns; every sum has a credal set: intervals for two of them, the hull of two vectors for the others. The sum over X2
is shared by both products.
"""

from credo import CircuitBuilder, Intervals, Vertices

b = CircuitBuilder(columns={"X1": 2, "X2": 2})
x1, not_x1 = b.indicator("X1", 1), b.indicator("X1", 0)
x2 = b.sum([b.indicator("X2", 1), b.indicator("X2", 0)], Vertices([(0.22, 0.78), (0.5, 0.5)]))
left = b.product([b.sum([x1, not_x1], Vertices([(0.3, 0.7), (0.4, 0.6)])), x2])
right = b.product([b.sum([x1, not_x1], Intervals([0.57, 0.16], [0.84, 0.43])), x2])
circuit = b.freeze(b.sum([left, right], Intervals([0.1, 0.5], [0.5, 0.9])))

print(circuit)
print()
print("event             probability")
for event in ({"X1": 1, "X2": 1}, {"X1": 1, "X2": 0}, {"X1": 0, "X2": 1}, {"X1": 0, "X2": 0}, {"X1": 1}, {"X2": 1}):
    print(f"{', '.join(f'{name} = {value}' for name, value in event.items()):<16}  {circuit.probability(event):.5f}")
print()
print("Each interval holds the answers of all networks whose weights lie in the credal sets, and its ends are attained.")
