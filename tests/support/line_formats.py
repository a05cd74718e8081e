"""Files of lines in each format, and lines that may spoil them."""

from __future__ import annotations

import bz2
import gzip
import json

import pyarrow as pa

# Each format: the columns of user and query, the header if it has one, and the lines of six users.
USERS = [f"person-{number}" for number in range(6)]
FORMATS: dict[str, tuple[tuple[str, str], bytes, list[bytes]]] = {
    "csv": (
        ("user", "query"),
        b"user,query,time\n",
        [
            f"{user},{query},2006-03-01\n".encode()
            for user in USERS
            for query in ("tea", '"a ""b"", c"', "größe 鞋", "")
        ],
    ),
    "tsv": (
        ("user", "query"),
        b"user\tquery\ttime\n",
        [
            f"{user}\t{query}\t2006-03-01\n".encode()
            for user in USERS
            for query in ("tea", '"half a quote', "größe 鞋", "")
        ],
    ),
    "aol": (
        ("AnonID", "Query"),
        b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n",
        [
            f"{user}\ttea\t2006-03-01 07:17:12{rest}\n".encode()
            for user in USERS
            for rest in ("", "\t\t", "\t1\thttp://x.example", "\t2")
        ],
    ),
    "excite": (
        ("user", "query"),
        b"",
        [
            f"{user}\t970916105432\t{query}\n".encode()
            for user in USERS
            for query in ("tea", '+"md', "größe 鞋", "")
        ],
    ),
    "jsonl": (
        ("user", "query"),
        b"",
        [
            json.dumps({"user": user, "query": query, "time": 1}, ensure_ascii=False).encode()
            + b"\n"
            for user in USERS
            for query in ("tea", 'a "b"\n', "größe 鞋", "")
        ],
    ),
}
NASTY = [
    b"one",
    b"mallory,tea",
    b"mallory,tea,2006-03-01,and,more,and,more",
    b"mallory\ttea\t2006\t1\thttp://x\tsurplus\t",
    b'mallory,"unbalanced,2006-03-01',
    b'"mallory,tea,2006-03-01',
    b'mallory,"two\nlines",2006-03-01',
    b'mallory,"a"b,2006-03-01',
    b'"',
    b'"""',
    b"\xff\xfe invalid \x80",
    b"mallory,\xc3,2006-03-01",
    b"mallory,\xed\xa0\x80,2006-03-01",
    b"mallory\tna\0ul\t2006-03-01",
    b"mallory,na\0ul,2006-03-01",
    b"mallory,lone\rreturn,2006-03-01",
    b"\r",
    b"\r\r",
    b"mallory,tea,2006-03-01\r",
    b"mallory,tea,2006-03-01\r\r",
    b"",
    b" ",
    b"\0",
    b",,",
    b"\t\t",
    b"\\",
    b"mallory,tea,2006-03-01\\",
    b"\xef\xbb\xbfmallory,tea,2006-03-01",
    b"\xe2\x80\xa8mallory\xc2\x85,tea\x0b\x0c\x1c,2006-03-01",
    b"x" * 5_000,
    b"mallory,\xc3\xa9" + b"y" * 5_000 + b",2006-03-01",
    b'{"user": "mallory"',
    b'{"user": "mallory", "query": "\\ud800", "time": 1}',
    b'{"user": "mallory", "query": "tea", "other": "\\udfff"}',
    b'{"user": ["mallory"], "query": {"a": 1}, "time": NaN}',
    b"[" * 3_000,
    b"[1, 2]",
    b"null",
    b"1e999",
    b'{"user": 1e999, "query": 123456789012345678901234567890}',
    b"{\0}\0",
    b"# comment",
    b"user,query,time",
    b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\r",
]


def packed(content: bytes, ending: str) -> bytes:
    if ending.lower() == ".gz":
        return gzip.compress(content[:50]) + gzip.compress(content[50:])
    if ending == ".bz2":
        return bz2.compress(content)
    if ending == ".zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(content)
        return bytes(sink.getvalue())
    return content
