"""Connections to object stores, and what their errors mean: what they answer is never quoted."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from zealous.errors import UsageError
from zealous.files.places import StoreError
from zealous.libraries import pa, pafs


class ObjectMissing(StoreError, FileNotFoundError):
    """There is nothing of that name."""


class _Denied(StoreError, PermissionError):
    """The store does not let us."""


def store_error(error: BaseException) -> StoreError:
    """What a store's own error means; its text may hold names and addresses."""
    if isinstance(error, StoreError):
        return error
    text = str(error)
    for pattern, kind, number, words in _MEANINGS:
        if re.search(pattern, text, re.IGNORECASE):
            return kind(number, words)
    code = re.search(r"AWS Error ([A-Z_]+)", text)
    said = f" ({code[1]})" if code else ""
    return StoreError(errno.EIO, f"the object store gave an error{said}")


_MEANINGS: tuple[tuple[str, type[StoreError], int, str], ...] = (
    (
        r"NO_SUCH_BUCKET|ContainerNotFound|bucket does not exist",
        ObjectMissing,
        errno.ENOENT,
        "there is no such bucket",
    ),
    (
        r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE_DOES|INVALID_CLIENT_TOKEN|EXPIRED_?TOKEN|"
        r"INVALID_TOKEN|UNRECOGNIZED_CLIENT|MISSING_AUTHENTICATION|PERMISSION_DENIED|UNAUTHENTICATED|"
        r"Authentication|Authorization|credential",
        _Denied,
        errno.EACCES,
        "no permission: see the credentials and the rights on the bucket",
    ),
    (
        r"NO_SUCH_KEY|RESOURCE_NOT_FOUND|NOT_FOUND|Path does not exist|BlobNotFound",
        ObjectMissing,
        errno.ENOENT,
        "there is no such object",
    ),
    (
        r"NETWORK_CONNECTION|curl|connect|resolve host|UNAVAILABLE|timed? ?out|DEADLINE",
        StoreError,
        errno.EHOSTUNREACH,
        "the object store cannot be reached",
    ),
)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Whatever goes wrong is raised in plain words."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise store_error(error) from None


@lru_cache(maxsize=64)
def connect(address: str) -> tuple[Any, str]:
    """The store's file system, and what stands before every key in it."""
    scheme = address.partition(":")[0]
    try:
        store, root = pafs.FileSystem.from_uri(address)
    except (pa.ArrowInvalid, NotImplementedError):  # its message quotes the whole URL
        raise UsageError(
            f"the URL is not one that {scheme}:// can have: see its options in the documentation"
        ) from None
    return store, root
