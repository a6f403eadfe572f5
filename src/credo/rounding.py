"""How far rounding may go, for kernels and for everything above them."""

ROUNDING = 1e-12  # of a sum of weights: less than this, left of a mass that is spent or beyond what is reachable, is nothing
SUM_TOLERANCE = 1e-9  # how far written weights may be from adding to one
