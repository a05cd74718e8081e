"""Tables on the disks of Spark's executors, for what later steps read again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeVar

from zealous.engines.spark_session import is_spark_error
from zealous.engines.sql import Step

# In Spark's message, where rows that were checkpointed are gone with the executor that had them.
_LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
_MOST_LOSSES = 2  # in one step
_FEW_ROWS = 2_000  # which each executor can hold, though each may be some texts long
T = TypeVar("T")


class _Rows(NamedTuple):
    """Rows on disks, and how to make them again."""

    steps: tuple[Step, ...]
    frame: Any


class StoredTables:
    """Tables whose rows are worked out once.

    Spark forgets how they were made. Else the plan of what is made of tables, which are made of
    tables, would double with each of them, and read one person's many entries dozens of times.

    Args:
        run: Gives the frame of some steps.
        show: Lets a frame be selected from under a name, and forgets what was called so.
    """

    def __init__(
        self, run: Callable[[Sequence[Step]], Any], show: Callable[[str, Any], None]
    ) -> None:
        self._run = run
        self._show = show
        self.tables: dict[str, list[_Rows]] = {}

    def append(self, name: str, steps: Sequence[Step]) -> None:
        """Append the rows of the last step to a table."""
        frame = self.despite_losses(lambda: self._on_disks(steps))
        self._put(name, [*self.tables.get(name, ()), _Rows(tuple(steps), frame)])

    def despite_losses(self, work: Callable[[], T]) -> T:
        """Do some work, and do it again where rows of a table were lost with an executor.

        They are made anew by the same steps, and are the same: no noise is in them. Nothing of the
        work that was ended has left the cluster.
        """
        for _ in range(_MOST_LOSSES):
            try:
                return work()
            except Exception as error:
                if not is_spark_error(error) or _LOST not in str(error):
                    raise
            for name, rows in list(self.tables.items()):  # each is made of earlier ones
                self._put(name, [each._replace(frame=self._on_disks(each.steps)) for each in rows])
        return work()

    def _on_disks(self, steps: Sequence[Step]) -> Any:
        from pyspark import StorageLevel

        frame = self._run(steps).localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)
        # Of a checkpoint Spark knows no size: it would send around what few rows are joined with.
        few = frame.limit(_FEW_ROWS + 1).count() <= _FEW_ROWS
        return frame.hint("broadcast") if few else frame

    def _put(self, name: str, rows: list[_Rows]) -> None:
        frames = (each.frame for each in rows)
        self._show(name, reduce(lambda one, other: one.unionByName(other), frames))
        self.tables[name] = rows
