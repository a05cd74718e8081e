"""Things by their names: mechanisms, kinds of items, anonymity methods, measures, audit settings.

Each stands in a file that registers it. The files of zealous are in one package; another
distribution names its own as entry points, whose group is the name of that package:

    [project.entry-points."zealous.mechanisms"]
    tens = "my_package.tens"
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from zealous.errors import UsageError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """What is registered, by name: all of it, since every file is imported at the first look.

    Attributes:
        package: The package whose modules register things, and the group of entry points.
    """

    def __init__(self, package: str, key: Callable[[T], str], first: Sequence[str] = ()) -> None:
        """Empty until the first look.

        Args:
            package: Where the modules are.
            key: What a thing is called.
            first: The names that come first, in this order; all others follow by alphabet.
        """
        self.package = package
        self._key = key
        self._first = {name: place for place, name in enumerate(first)}
        self._things: dict[str, T] = {}
        self._complete = False

    def register(self, thing: T) -> T:
        """Add a thing; a decorator.

        Raises:
            UsageError: Another one is called so: nothing can take the place of what is there.
        """
        name = self._key(thing)
        if name in self._things:
            raise UsageError(f"{self.package} has two that are called {name!r}: rename one of them")
        self._things[name] = thing
        return thing

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        last = len(self._first)
        yield from sorted(self._all(), key=lambda name: (self._first.get(name, last), name))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, T]:
        if not self._complete:
            for module in pkgutil.iter_modules(import_module(self.package).__path__):
                import_module(f"{self.package}.{module.name}")
            for point in entry_points(group=self.package):
                _load(point)
            self._complete = True
        return self._things


def _load(point: EntryPoint) -> None:
    try:
        point.load()
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(
            f"{point.value}, which another package adds to {point.group}, cannot be imported "
            f"({type(error).__name__}): mend or remove that package"
        ) from error
