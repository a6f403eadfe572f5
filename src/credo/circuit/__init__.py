"""Circuits as flat arrays: what they hold, how they are made, checked and stored."""
