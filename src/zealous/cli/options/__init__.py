"""Options that several commands share: each file has a group of them and what they become."""

from __future__ import annotations

from typing import Any

Given = dict[str, Any]
"""The values of a command's options, by name."""
