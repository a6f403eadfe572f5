"""Inference: everything that reads a circuit. One operation a file."""
