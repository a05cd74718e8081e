"""Document frequencies of real words, for `--documents` of `zealous study compare`.

    python benchmarks/documents.py count FOLDER... -o documents.csv
    python benchmarks/documents.py wordfreq -o documents.csv

`count` counts the documents of folders: each file is one, plain, HTML or a manual page, packed with
gzip or not. Any corpus will do; on Debian there are the manual pages of the machine:

    python benchmarks/documents.py count /usr/share/man/man? --pages 25000000 -o documents.csv

`wordfreq` takes how often words stand in running English from the package of that name (`pip
install wordfreq`; the program under Apache-2.0, its data under CC BY-SA 4.0 and others, which is
why the table is made here and not shipped). Frequencies become documents by a model: a page has 500
words on average, its length is geometrically distributed, and words stand on it independently of
each other. A word that stands `often` times on an average page is then on often / (1 + often) of
all pages.

`--pages N` states the documents as if there were N of them: each word on the same share. For a log
of `zealous generate`, `--generated` adds the words that it invents. No corpus has these: such a
word has the documents of the real word that has its rank in the language, as the invented corpus of
the program has it, so that the rank alone is invented. Beyond the last rank documents fall with the
rank, by Zipf's law.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa

from zealous.study.measures.phrases import words
from zealous.synthetic.corpus import PAGES, invented_vocabulary, language_ranks

PAGE_LENGTH = 500
# Of manual pages: fonts, glyphs and requests; of HTML: tags and entities.
_MARKUP = re.compile(r"\\f.|\\\(..|\\\[[^]]*]|\\.|^[.'][A-Za-z\\\"]+|<[^>]*>|&#?\w+;", re.M)

Shares = dict[str, float]


def main() -> None:
    arguments = _arguments()
    if arguments.source == "count":
        shares, number = _counted(arguments.folders)
        pages = arguments.pages or number
        print(f"{number:,} documents with {len(shares):,} words")
    else:
        shares, pages = _from_wordfreq(), arguments.pages or PAGES
        print(f"{len(shares):,} words, as if on {pages:,} pages of {PAGE_LENGTH} words")
    if arguments.generated:
        shares |= _invented(shares)
    documents = {word: max(1, round(share * pages)) for word, share in shares.items()}
    rows = sorted(documents.items(), key=lambda row: (-row[1], row[0]))
    with Path(arguments.output).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("keyword", "documents"))
        table.writerows(rows)
    print(f"{arguments.output}: {len(documents):,} keywords")


def _counted(folders: Iterable[str]) -> tuple[Shares, int]:
    """On which share of the documents each word stands, and how many documents there are."""
    found: dict[str, int] = {}
    number = 0
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        text = _MARKUP.sub(" ", _text(path))
        held = set(words(pa.array([text])).flat.to_pylist())
        number += bool(held)
        for word in held:
            found[word] = found.get(word, 0) + 1
    if not number:
        raise SystemExit("there is no document in these folders")
    return {word: documents / number for word, documents in found.items()}, number


def _text(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return data.decode("utf-8", errors="ignore")


def _from_wordfreq() -> Shares:
    """On which share of pages each word stands, by the model."""
    try:
        wordfreq = import_module("wordfreq")
    except ImportError:
        sys.exit("pip install wordfreq, or count the documents of a folder")
    often: Mapping[str, float] = wordfreq.get_frequency_dict("en", wordlist="large")
    expected = ((word, PAGE_LENGTH * share) for word, share in often.items())
    return {word: on_page / (1 + on_page) for word, on_page in expected}


def _invented(shares: Shares) -> Shares:
    """Of words that no corpus has: the share of the word that has their rank."""
    ordered = np.array(sorted(shares.values(), reverse=True))
    missing = [word for word in invented_vocabulary() if word not in shares]
    ranks = np.maximum(1, language_ranks(pa.array(missing)))
    at = np.minimum(ranks, len(ordered)).astype(np.int64)
    found = ordered[at - 1] * at / np.maximum(at, ranks)
    return dict(zip(missing, found.tolist(), strict=True))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sources = parser.add_subparsers(dest="source", required=True)
    count = sources.add_parser("count", help="the documents of folders")
    count.add_argument("folders", nargs="+")
    for each in (count, sources.add_parser("wordfreq", help="the package wordfreq")):
        each.add_argument("-o", "--output", required=True)
        each.add_argument("--pages", type=int)
        each.add_argument("--generated", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
