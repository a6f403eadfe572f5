"""From codes to the structure of a circuit: how rows are clustered, columns separated and counts turned into credal sets."""
