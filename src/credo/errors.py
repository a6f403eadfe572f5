"""Every error Credo raises on purpose.

A message names the column or node, shows the value that was refused, says what is allowed and what to do about it.

Examples
--------
>>> import credo
>>> try:
...     credo.load("no such folder/circuit.credo")
... except credo.errors.PathError as error:
...     print(error)
no such folder/circuit.credo cannot be read: there is no such file; check the name and the folder
"""


class CredoError(Exception):
    """The root of all errors that Credo raises on purpose.

    Each kind has a class of its own in `credo.errors`: `BoundsError`, `CircuitError`, `CredalSetError`, `DataError`,
    `EvidenceError`, `FileFormatError`, `MissingToolError`, `ParameterError`, `PathError` and `SchemaError`. They are also what
    Python calls such errors: `ValueError`, `OSError`, `LookupError` or `RuntimeError`.

    Examples
    --------
    >>> import credo
    >>> try:
    ...     credo.Precise([0.5, 0.6])
    ... except credo.CredoError as error:
    ...     print(error)
    the weights [0.5, 0.6] add to 1.1, not to 1; divide them by their sum
    """


class CredalSetError(CredoError, ValueError):
    """A credal set is empty or malformed."""


class CircuitError(CredoError, ValueError):
    """A circuit is malformed, not complete, not decomposable, or not fit for the operation asked of it."""


class SchemaError(CredoError, ValueError):
    """Column names, sizes or labels contradict each other, or a node is to be built over a column or value that is none of them."""


class BoundsError(CredoError, ValueError):
    """Bounds cross, are undefined, or do not hold the values said to be attained between them."""


class EvidenceError(CredoError, ValueError):
    """Evidence names an unknown column, an unknown value, or codes that are out of range."""


class FileFormatError(CredoError, ValueError):
    """A file is truncated, altered, foreign or written by a newer version."""


class PathError(CredoError, OSError):
    """A file cannot be read or written where it was asked for; the cause is the error of the operating system."""


class ParameterError(CredoError, ValueError):
    """A setting of an estimator is not one of those allowed."""


class DataError(CredoError, LookupError):
    """A benchmark table is not where it is looked for."""


class MissingToolError(CredoError, RuntimeError):
    """An optional program or package that the operation needs is not installed."""


class CredoWarning(UserWarning):
    """Something works, but not as well as one may think.

    Examples
    --------
    >>> import warnings, credo
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", credo.CredoWarning)  # be told by an exception instead
    """
