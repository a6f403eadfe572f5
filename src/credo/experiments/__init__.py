"""The published experiments, run again: what was measured beside what was printed."""
