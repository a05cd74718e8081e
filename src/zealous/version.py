"""The version, apart from everything else so that any module can name it."""

VERSION = "1.0.0rc1"
EARLIER = ("0.1.0", "0.2.0")  # whose releases this one can judge
