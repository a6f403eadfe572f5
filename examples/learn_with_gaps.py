"""Learn from a table with gaps, and compare the intervals with what the complete table says.

A made-up study: 3,000 people, six yes/no columns. Some habits go together, the ill cough, and most of them are tired. Then
five rows in a hundred lose some of their cells, as in forms that were not filled in to the end.
"""

import numpy as np

from credo import CredalSPN, gaps

COLUMNS = ("smoker", "athlete", "ill", "cough", "fever", "tired")
QUESTIONS = (
    {"ill": 1},
    {"cough": 1},
    {"ill": 1, "cough": 1},
    {"smoker": 1, "ill": 1},
    {"athlete": 1, "tired": 0},
    {"fever": 1, "tired": 1},
)

rng = np.random.default_rng(7)
n = 3_000
smoker = rng.random(n) < 0.3
athlete = rng.random(n) < np.where(smoker, 0.1, 0.4)
ill = rng.random(n) < 0.1 + 0.25 * smoker - 0.05 * athlete
cough = rng.random(n) < np.where(ill, 0.7, 0.08 + 0.1 * smoker)
fever = rng.random(n) < np.where(ill, 0.5, 0.03)
tired = rng.random(n) < np.where(ill, 0.8, 0.3 - 0.15 * athlete)
complete = np.column_stack([smoker, athlete, ill, cough, fever, tired]).astype(int)
table = gaps.rows(complete, 0.05, random_state=7)

model = CredalSPN(random_state=0).fit(table)
print(f"learned from {n} rows, {np.isnan(table).any(axis=1).sum()} of them with gaps ({np.isnan(table).sum()} cells)")
print(f"{model.n_nodes_} nodes in {model.learning_seconds_:.2f} s")
print()
print(f"{'question':<28}{'interval':<18}complete table")
for question in QUESTIONS:
    bounds = model.circuit_.probability({f"x{COLUMNS.index(name)}": value for name, value in question.items()})
    positions, values = [COLUMNS.index(name) for name in question], list(question.values())
    seen = (complete[:, positions] == values).all(axis=1).mean()
    shown = ", ".join(f"{name} = {'yes' if value else 'no'}" for name, value in question.items())
    print(f"{shown:<28}{bounds!s:<18}{seen:.3f}")
