"""Benchmarks: ratios between Credo and other ways to compute the same, measured side by side on one core.

Libraries read how many threads to use when they are imported, so it is said here, before any of them.
"""

import os

for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_variable] = "1"
