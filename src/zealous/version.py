"""The version, apart from everything else so that any module can name it."""

VERSION = "0.2.0"
