"""Frequent sets of one size by mlxtend's FP-growth, without any privacy.

    python mlxtend_itemsets.py INPUT OUTPUT SIZE LEAST

INPUT is a Parquet table of (basket, item), numbers from 0, each pair once. OUTPUT is a Parquet
table of (item_1, ..., item_SIZE, baskets), the items ascending: every set in LEAST baskets or more.
"""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from mlxtend.frequent_patterns import fpgrowth
from scipy.sparse import csr_matrix


def main() -> None:
    source, output, size, least = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    rows = pq.read_table(source)
    basket, item = rows["basket"].to_numpy(), rows["item"].to_numpy()
    held = csr_matrix((np.ones(len(item), bool), (basket, item)))
    baskets = held.shape[0]
    frame = pd.DataFrame.sparse.from_spmatrix(held)
    # Half a basket less, since the share is multiplied by their number and rounded up there.
    found = fpgrowth(frame, min_support=(least - 0.5) / baskets, max_len=size)
    found = found[found["itemsets"].map(len) == size]
    sets = np.array([sorted(each) for each in found["itemsets"]], np.int64).reshape(-1, size)
    count = np.rint(found["support"].to_numpy() * baskets).astype(np.int64)
    columns = {f"item_{place + 1}": sets[:, place] for place in range(size)}
    pq.write_table(pa.table({**columns, "baskets": count}), output)


if __name__ == "__main__":
    main()
