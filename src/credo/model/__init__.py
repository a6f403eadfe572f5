"""The public circuit: arrays, names and every query; how it is built, shown and stored."""
