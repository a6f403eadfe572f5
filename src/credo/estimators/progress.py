"""A progress bar for learning, on terminals and where it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from credo.learn.learners import Progress

Watch = Callable[[Progress], None]


@contextmanager
def watching(verbose: bool | None) -> Iterator[Watch | None]:
    """Yield what a learner calls to report its progress; None where nobody looks.

    Parameters
    ----------
    verbose : bool or None
        None shows a bar where the error stream is a terminal.
    """
    if not (sys.stderr.isatty() if verbose is None else verbose):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("learning"),
        BarColumn(),
        TextColumn("{task.fields[slices]} slices done, {task.fields[cells]} cells left, {task.fields[nodes]} nodes"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=verbose is None) as bar:
        task = bar.add_task("learning", total=None, slices=0, cells="all", nodes=0)

        def show(progress: Progress) -> None:
            bar.update(
                task,
                total=progress.all_cells,
                completed=progress.all_cells - progress.cells_left,
                slices=f"{progress.slices_done:,}",
                cells=f"{progress.cells_left:,}",
                nodes=f"{progress.nodes:,}",
            )

        yield show
