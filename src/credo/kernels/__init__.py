"""Compiled loops over plain arrays. The only package that imports numba; `jit.py` holds the whole policy."""
