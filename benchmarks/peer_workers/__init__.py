"""Programs that run inside the environments of other libraries: they import numpy and that library, never Credo."""
