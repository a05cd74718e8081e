"""Users per item by zealous in Python, for check.py; run.py measures the command itself."""

from setting import main

import zealous as z


def release(
    source: str, epsilon: float, delta: float, items_per_user: int
) -> list[tuple[str, float]]:
    log = z.read_log(source, columns=z.Columns(user="user"))
    goal = z.Indistinguishability(
        epsilon=f"{epsilon:g}", delta=f"{delta:g}", neighbors="add-remove"
    )
    kinds = [z.columns("item", items_per_user=items_per_user)]
    published = z.publish(log, goal, kinds, account=None)
    (table,) = published.tables.values()
    return [(row["item"], row["count"]) for row in table.arrow.to_pylist()]


if __name__ == "__main__":
    main(release)
