"""Tables: what their columns are, and how their values become codes."""
