from credo import errors as errors
from credo.bounds import Bounds as Bounds
from credo.credal_sets import Contaminated as Contaminated
from credo.credal_sets import Intervals as Intervals
from credo.credal_sets import Precise as Precise
from credo.credal_sets import Vertices as Vertices
from credo.errors import CredoError as CredoError
from credo.errors import CredoWarning as CredoWarning
from credo.estimators.density import CredalSPN as CredalSPN
from credo.model.builder import CircuitBuilder as CircuitBuilder
from credo.model.circuit import Circuit as Circuit
from credo.model.files import load as load
from credo.table import gaps as gaps
from credo.table.schema import Schema as Schema

__version__: str
__all__: list[str]
