"""The definitions in plain Python, slow and obvious: what the library must agree with. Imported by tests only."""
