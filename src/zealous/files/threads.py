"""Work of some threads of this process, which an interrupt ends at any moment."""

from __future__ import annotations

from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
_Made = tuple[Sequence[R], BaseException | None]  # one of either


def in_threads(each: Callable[[T], R], things: Iterable[T], threads: int) -> Iterator[R]:
    """What a function makes of each thing, in their order; few of them are there at once.

    An interrupt is raised between any two steps of this, and within those of a pool of Python's:
    there it can leave a lock held for which the threads, and whoever waits for them, wait for ever.
    A `SimpleQueue` and `start_new_thread` are of one step.
    """
    given: SimpleQueue[tuple[T, SimpleQueue[_Made[R]]] | None] = SimpleQueue()
    ended: SimpleQueue[None] = SimpleQueue()
    ahead: deque[SimpleQueue[_Made[R]]] = deque()

    def work() -> None:
        while (task := given.get()) is not None:
            thing, told = task
            try:
                told.put(([each(thing)], None))
            except BaseException as error:
                told.put(([], error))
        ended.put(None)

    def next_made() -> Sequence[R]:
        made, error = ahead.popleft().get()
        if error is not None:
            raise error
        return made

    started = 0
    try:
        for _ in range(threads):
            start_new_thread(work, ())
            started += 1
        for thing in things:
            told: SimpleQueue[_Made[R]] = SimpleQueue()
            given.put((thing, told))
            ahead.append(told)
            if len(ahead) > threads:
                yield from next_made()
        while ahead:
            yield from next_made()
    finally:
        for _ in range(started):
            given.put(None)
        for _ in range(started):
            ended.get()
