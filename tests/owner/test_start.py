"""From a file to a command: what is found in first lines and names, and what is proposed."""

from __future__ import annotations

import gzip
import json
import random
import re
import shlex
from datetime import date
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import zealous as z
from zealous.errors import LogError, UsageError
from zealous.files.places import place_of
from zealous.logs.column_names import Role, column_of, guess_roles
from zealous.logs.log import read_log
from zealous.owner.draft import Draft, default_delta
from zealous.owner.file_format import FileFormat, StatedFormat, find_format
from zealous.owner.inspection import inspect
from zealous.owner.start import (
    check_kinds,
    command_line,
    default_offer,
    expected_items,
    look_at_log,
    new_output_name,
    offers,
    reading_options,
    with_values,
)
from zealous.owner.start_text import Page, columns_section, outlook_section
from zealous.privacy.guarantee import Guarantee
from zealous.privacy.levels import LEVELS, percent, suspicion_after

GOAL = z.ProbabilisticDP(epsilon=2, delta="0.001", users=10_000_000)
SHOP = "CustomerID,InvoiceNo,InvoiceDate,Description,Quantity\n17,5,2024-03-01 10:00,TEA,2\n"


@pytest.mark.parametrize(
    ("header", "role", "column"),
    [
        ("InvoiceNo,Description,CustomerID", "user", "CustomerID"),
        ("InvoiceNo,Description,CustomerID", "basket", "InvoiceNo"),
        ("InvoiceNo,InvoiceDate,CustomerID", "time", "InvoiceDate"),
        ("patient,encounter,diag_1", "item", "diag_1"),
        ("AnonID,Query,QueryTime,ItemRank,ClickURL", "query", "Query"),
        ("user_agent,user_id,query_time", "user", "user_id"),
        ("Kunden-Nr.,Artikel,Datum", "user", "Kunden-Nr."),
        ("id_client,requête,horodatage", "query", "requête"),
        ("usuario,búsqueda,fecha", "query", "búsqueda"),
        ("用户编号,查询词,时间", "user", "用户编号"),
        ("ユーザーID,検索語", "user", "ユーザーID"),
        ("пользователь,запрос", "query", "запрос"),
        ("usre_id,serach_term", "query", "serach_term"),
        ("a,b,c", "user", None),
        ("customer_name,email", "item", None),
        ("CUSTOMER_ID,PRODUCT_NAME", "item", "PRODUCT_NAME"),
        ("Member No.,Date of visit,Branch", "time", "Date of visit"),
        ("Member No.,Date of visit,Branch", "session", None),
        ("user,place of birth", "item", None),
        ("user,place of birth", "personal", "place of birth"),
        ("member,number of visits", "amount", "number of visits"),
        ("reader_id,tags,lang", "item", "tags"),
        ("order_id,customer,ordered_at", "time", "ordered_at"),
    ],
)
def test_columns_are_known_by_name(header: str, role: Role, column: str | None) -> None:
    assert column_of(guess_roles(header.split(",")), role) == column


def test_one_column_is_the_person_and_a_near_name_is_said_to_be_near() -> None:
    guesses = guess_roles(["visitor", "user", "custmer"])
    assert [each.role for each in guesses] == ["attribute", "user", "attribute"]
    (near,) = guess_roles(["custmer"])
    assert (near.role, near.near) == ("user", "customer")


def found_in(tmp_path: Path, name: str, content: bytes, **stated: object) -> FileFormat:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return find_format(place_of(path), StatedFormat(**stated))  # type: ignore[arg-type]


CHINESE = "".join(
    f"{user:016x}\t20080601{user % 24:02d}0000\t天气 预报{user}\thttp://a.cn/{user}\n"
    for user in range(40)
)
GERMAN = "Kundennummer;Artikel;Preis\n" + "".join(f"{n};Käse;1,{n}\n" for n in range(10, 50))
EXCITE = "".join(f"2A9EABFB35F5B9{n:02d}\t9709161054{n:02d}\tyahoo chat\n" for n in range(10, 50))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("shop.csv", SHOP.encode(), []),
        ("shop.csv.gz", SHOP.encode(), []),
        ("shop.txt", SHOP.encode(), ["--format", "csv"]),
        ("shop.csv", b"\xef\xbb\xbf" + SHOP.encode(), []),
        ("shop.csv", SHOP.replace(",", "\t").encode(), ["--format", "tsv"]),
        ("shop.csv", SHOP.replace(",", "|").encode(), ["--delimiter", "|"]),
        ("laden.csv", GERMAN.encode("cp1252"), ["--delimiter", ";", "--encoding", "cp1252"]),
        ("laden.csv", GERMAN.encode(), ["--delimiter", ";"]),
        (
            "small.log",
            EXCITE.encode(),
            ["--format", "tsv", "--columns", "unnamed_column_1,time,query"],
        ),
        (
            "cn.log",
            CHINESE.encode("gb18030"),
            [
                "--format",
                "tsv",
                "--encoding",
                "gb18030",
                "--columns",
                "unnamed_column_1,time,query,url",
            ],
        ),
        (
            "aol.txt",
            b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n1\ta\tb\n",
            ["--format", "aol"],
        ),
        ("e.log", b'{"user": 1, "item": "tea"}\n' * 3, ["--format", "jsonl"]),
    ],
)
def test_how_a_file_is_laid_out(tmp_path: Path, name: str, content: bytes, said: list[str]) -> None:
    assert found_in(tmp_path, name, content).options(place_of(tmp_path / name)) == said


def test_lines_that_are_unmistakable_tell_their_format(tmp_path: Path) -> None:
    sogou = "00:00:01\t17\t[天气]\t1 2\ta.cn/x\n" * 3
    assert found_in(tmp_path, "a.txt", sogou.encode("gb18030")).format == "sogou"
    utf8 = found_in(tmp_path, "b.txt", sogou.encode())
    assert (utf8.format, utf8.encoding) == ("sogou", "utf-8")
    assert found_in(tmp_path, "c.txt", sogou.encode(), format="tsv").format == "tsv"
    assert found_in(tmp_path, "d.txt", sogou.replace("[", "").encode()).format == "tsv"


def test_one_odd_line_changes_nothing(tmp_path: Path) -> None:
    rows = "".join(f"{n},Käse\n" for n in range(50)).encode()
    for odd in (b"7,\xff\xfe\n", b"7,a,b,c\n", b'7,"\n', b"7,\0\n", b"C\n"):
        found = found_in(tmp_path, "log.csv", b"user,product\n" + rows + odd + rows)
        assert (found.format, found.encoding, found.delimiter) == ("csv", None, None), odd
        assert found.columns == ("user", "product")
    found = found_in(tmp_path, "cn.log", CHINESE.encode("gb18030") + b"\xff\xff\n")
    assert found.encoding == "gb18030"


def test_an_access_log_tells_itself(tmp_path: Path) -> None:
    line = '203.0.113.7 - - [31/Jan/2026:13:00:00 +0100] "GET /tea HTTP/1.1" 200 12 "-" "x"\n'
    (tmp_path / "access.log").write_text(line * 19 + "broken\n")
    found = find_format(place_of(tmp_path / "access.log"), StatedFormat())
    assert (found.format, found.columns[:2]) == ("combined", ("address", "account"))
    (tmp_path / "access.log").write_text(line * 5 + "broken\n" * 5)
    with pytest.raises(LogError, match="nothing divides"):
        find_format(place_of(tmp_path / "access.log"), StatedFormat())


def test_json_lines_that_name_no_user_are_told_which_name_may_be_meant(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"USER-ID": 1, "query": "tea"}\n')
    found = inspect(read_log(tmp_path / "log.jsonl"))
    assert "No line has 'user'. Did you mean --user USER-ID?" in found.warnings


def test_parquet_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "visits"
    pq.write_table(pa.table({"visitor": ["1"], "page": ["/"]}), path)
    found = find_format(place_of(path), StatedFormat())
    assert (found.format, found.columns) == ("parquet", ("visitor", "page"))


def test_times_that_are_texts_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    days = [f"{day:02}.{month:02}.2026" for day in range(1, 28) for month in (1, 2)]
    columns = {"user": range(54), "query": ["tea", None] * 27, "day": days, "note": ["x"] * 54}
    pq.write_table(pa.table({name: [*values] for name, values in columns.items()}), path)
    found = find_format(place_of(path), StatedFormat())
    assert found.time_formats == {"day": "%d.%m.%Y"}
    assert [found.shape(name) for name in ("query", "day", "note")] == [None, "time", None]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b'a,b\n1,"x\ny"\n2,"z\nw"\n' * 9, "line ends in quotes"),
        ("a.csv", b"", "is empty"),
        ("a.xlsx", b"PK\x03\x04....", "Excel"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "iconv"),
        ("a.bin", b"\0\0\1\2", "no text"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(5000), "no text"),
        ("a.json", b'[{"a": 1},\n {"a": 2}]\n', "jq -c"),
        ("a.txt", b"one\ntwo\n", "say delimiter"),
        ("a.csv", b"I,4,x,\nT,1,,y\nC,10,,\nV,1,,\n", "not one table"),
        ("a.csv", b"a,b,c\n1,2\n1,2\n3,4\n5,6\n", "not one table"),
    ],
)
def test_what_is_no_table_is_said_with_what_to_do(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    with pytest.raises(LogError, match=words):
        found_in(tmp_path, name, content)


@pytest.mark.parametrize(
    "line", ["alice smith,secret clinic", "17850,tea", "tea,http://a.example/x", "tea,2024-01-05"]
)
def test_a_line_of_data_is_not_shown_as_a_header(tmp_path: Path, line: str) -> None:
    (tmp_path / "log.csv").write_text(f"{line}\n" * 3)
    found = look_at_log([str(tmp_path / "log.csv")], StatedFormat())
    assert not found.format.has_header
    shown = columns_section(Page(80), found)
    assert not any(part in shown for part in line.split(","))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (("order_date", "ship_date"), "order_date is taken for the time."),
        (("placed", "shipped"), "No column is taken for the time."),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_of_several_columns_with_times_it_says_which_it_took(
    tmp_path: Path, columns: tuple[str, str], said: str, suffix: str
) -> None:
    path = tmp_path / f"log.{suffix}"
    table = pa.table({"uid": ["a", "b"], **{each: [date(2024, 1, 5)] * 2 for each in columns}})
    pq.write_table(table, path) if suffix == "parquet" else csv.write_csv(table, path)
    shown = columns_section(Page(200), look_at_log([str(path)], StatedFormat()))
    assert said in shown
    assert f"--time {columns['No' not in said]}." in shown
    one = columns_section(Page(200), look_at_log([str(path)], StatedFormat(), {"time": columns[1]}))
    assert f"{columns[1]} is taken for the time." in one
    assert f"--time {columns[0]}." in one


@pytest.mark.parametrize(
    "lines",
    [
        "anna kern,cheap flight ticket\nbob lee,hiv clinic\n",
        "anna kern,film\nbob lee,hiv clinic\n",
        "anna,film\nbob,clinic\n",
        "user17,flu\nuser18,cough\n",
        "anna kern,divorce,x\nbob lee,flu,4\nbob lee,acne,5\n",
        "anna,divorce,NULL\nbob,flu,4\nbob,acne,5\n",
        "anna@example.org,divorce,x\nbob@example.org,flu,4\n",
        "anna@example.org,dr. who (1),x,y\nbob@example.org,flu,4,5\n",
    ],
)
def test_a_first_line_among_others_is_data_and_never_quoted(tmp_path: Path, lines: str) -> None:
    (tmp_path / "log.csv").write_text(lines)
    found = look_at_log([str(tmp_path / "log.csv")], StatedFormat())
    assert not found.format.has_header
    said = columns_section(Page(80), found)
    with pytest.raises(UsageError) as wrong:
        look_at_log([str(tmp_path / "log.csv")], StatedFormat(), {"user": "ann"})
    assert not any(part in said + str(wrong.value) for part in lines.split("\n")[0].split(",")[:2])


@pytest.mark.parametrize(
    "lines",
    [
        "Invoice,StockCode,Quantity,InvoiceDate,Customer ID,Country\nA,B,C,D,E,F\n",
        ",user,query\n0,anna,tea\n",
        "alpha,beta\n1,2\n",
        "Lfd-Nr.;Vorgang/Zeitpunkt;Kd.-Schlüssel;Bezeichnung (Handel);Betrag €\n"
        "0000;01.01.2025 00:12;00217;Tee;1,5\n",
        "Row No.,Date,Customer,SKU\n1,2024-01-01,17850,85123A\n",
        "Ticket,Created (UTC),Requester\n17,2024-01-01 10:00,ann\n",
        "Vorgang °,Wer (Kürzel)\n2024-01-01,a81b\n",
    ],
)
def test_a_header_is_known_by_its_names_or_by_numbers_below(tmp_path: Path, lines: str) -> None:
    assert found_in(tmp_path, "a.csv", lines.encode()).has_header


def test_a_person_without_a_name_is_told_by_the_place_of_the_column(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text(EXCITE)
    found = look_at_log([str(tmp_path / "log.tsv")], StatedFormat())
    assert found.column("user") == "unnamed_column_1"
    assert reading_options(found, draft(queries=1), None)[:4] == [
        "--columns",
        "unnamed_column_1,time,query",
        "--user",
        "unnamed_column_1",
    ]
    log = z.read_log(
        tmp_path / "log.tsv",
        names=found.format.columns,
        columns=z.Columns(user="unnamed_column_1", query="query"),
    )
    goal = z.ProbabilisticDP(epsilon=20, delta="0.01", users=1000)
    z.publish(log, goal, [z.queries(1)], account=None, output=tmp_path / "out")
    for name in ("README.md", "release.json"):
        said = " ".join((tmp_path / "out" / name).read_text().split())
        assert "value of column 1 of the log, which has no header." in said, name


def test_a_guessed_header_is_not_quoted_but_for_usual_names(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("customer,divorce\n1,2\n3,4\n")
    paths = [str(tmp_path / "log.csv")]
    for misspelt, near in (("custome", "Did you mean customer?"), ("divorc", "")):
        with pytest.raises(UsageError) as wrong:
            look_at_log(paths, StatedFormat(), {"user": misspelt})
        assert str(wrong.value).endswith(near or "names them")
    with pytest.raises(UsageError, match=r"it has customer, divorce\. Did you mean divorce"):
        look_at_log(paths, StatedFormat(header=True), {"user": "divorc"})


def test_a_name_that_a_terminal_would_obey_is_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": ["1"], "a\x1b[2J": ["x"]}), path)
    with pytest.raises(LogError, match="cannot be printed"):
        look_at_log([str(path)], StatedFormat())


def test_whoever_says_so_has_a_header(tmp_path: Path) -> None:
    found = found_in(tmp_path, "a.csv", b"a,b\nx y,z\n", header=True)
    assert (found.columns, found.has_header) == (("a", "b"), True)


def test_what_a_header_allows(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    (tmp_path / "log.csv").write_text("user,query,time,url\n1,tea,2024-01-01,a.b/c\n")
    (tmp_path / "ill.csv").write_text("patient,encounter,diag_1,diag_2,email\n1,2,3,4,5\n")
    shop, log, ill = (
        [
            (each.items, each.basket)
            for each in offers(look_at_log([str(tmp_path / name)], StatedFormat()))
        ]
        for name in ("shop.csv", "log.csv", "ill.csv")
    )
    assert shop == [("columns:Description", None), ("itemsets:Description", "InvoiceNo")]
    assert log[0] == ("queries", None)
    assert {name for name, _ in log} == {
        "queries",
        "keywords",
        "clicks",
        "query-pairs",
        "phrase-pairs",
        "query-clicks",
    }
    assert ill[-1] == ("itemsets:diag_1/diag_2", "encounter")
    assert not any("email" in name for name, _ in ill)


def draft(goal: Guarantee = GOAL, **items: int) -> Draft:
    return Draft(goal=goal, items={name.replace("_", "-"): m for name, m in items.items()})


def test_options_name_the_columns_that_are_needed_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("Kunde,Suche,Zeit,Sitzung\n1,tea,01.03.2024 10:00,5\n")
    found = look_at_log([str(path)], StatedFormat())
    plain = ["--user", "Kunde", "--query", "Suche"]
    assert reading_options(found, draft(queries=2), None) == plain
    days = z.ProbabilisticDP(epsilon=2, delta="0.001", users=9, unit="user-day")
    assert reading_options(found, draft(days, queries=2), None) == [
        *plain,
        "--time",
        "Zeit",
        "--time-format",
        "%d.%m.%Y %H:%M",
    ]
    sessions = z.ProbabilisticDP(epsilon=2, delta="0.001", users=9, unit="session")
    assert reading_options(found, draft(sessions, queries=2), None) == [
        *plain,
        "--session",
        "Sitzung",
    ]


def test_options_name_the_time_that_the_owner_names_where_no_item_needs_it(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("Kunde,Suche,Ausleihdatum\n1,tea,25.09.2026\n")
    found = look_at_log([str(path)], StatedFormat(), {"time": "Ausleihdatum", "url": None})
    options = reading_options(found, draft(queries=2), None)
    assert options[-4:] == ["--time", "Ausleihdatum", "--time-format", "%d.%m.%Y"]


def test_misspelt_columns_are_answered_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    paths = [str(tmp_path / "shop.csv")]
    with pytest.raises(UsageError, match="Did you mean CustomerID"):
        look_at_log(paths, StatedFormat(), {"user": "CustomerNo"})
    with pytest.raises(UsageError, match="Did you mean Description"):
        check_kinds(look_at_log(paths, StatedFormat()), [z.columns("Descripton", items_per_user=1)])


def test_a_suspicion_moves_by_its_odds_and_is_rounded_up() -> None:
    assert [percent(suspicion_after(each)) for each in (*LEVELS.values(), Fraction(8))] == [
        "23.2 %",
        "45.1 %",
        "85.9 %",
        "99.7 %",
    ]


def test_the_ladder_has_the_odds_and_what_an_item_needs() -> None:
    ladder = draft(queries=2).ladder()
    assert [float(rung.epsilon) for rung in ladder] == [0.5, 1, 2, 4, 8]
    assert [rung.level for rung in ladder] == [None, "strict", "moderate", "permissive", None]
    needed = [rung.users_to_appear for rung in ladder]
    assert needed == sorted(needed, reverse=True)
    (part,) = draft(queries=2).planned.parts
    assert (
        part.mechanism.publication_probability(needed[2])
        >= 0.95
        > part.mechanism.publication_probability(needed[2] - 1)
    )


@pytest.mark.parametrize(
    ("users", "outlook"),
    [
        (10, "nothing"),
        (1000, "next to nothing"),
        (10_000, "only the most frequent"),
        (1_000_000, "a table"),
    ],
)
def test_what_to_expect_follows_from_public_figures(users: int, outlook: str) -> None:
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=users)
    assert draft(goal, queries=2).outlook() == outlook


def test_what_would_help_does_help_and_is_said_as_options() -> None:
    goal = z.ProbabilisticDP(epsilon=1, delta="0.001", users=7500)
    wish = draft(goal, queries=2, keywords=5)
    remedies = wish.remedies()
    assert all(each.users_to_appear < wish.users_to_appear for each in remedies)
    assert {each.options[0] for each in remedies} == {
        "--privacy",
        "--items",
        "--items-per-user",
        "--guarantee",
    }
    said = outlook_section(Page(200), wish, stated_users=True)
    assert "next to nothing" in said
    assert "--privacy moderate" in said
    assert "count each person for fewer" in said


def test_what_to_expect_is_said_of_each_kind() -> None:
    goal = z.ProbabilisticDP(epsilon=2, delta="0.001", users=10_000)
    wish = draft(goal, keywords=5, clicks=2)
    few, many = wish.by_kind()
    assert (few.outlook, many.outlook) == ("next to nothing", "only the most frequent")
    assert few.users_to_appear == wish.users_to_appear > many.users_to_appear
    said = outlook_section(Page(80), wish, stated_users=True)
    for each in (few, many):
        assert re.search(rf"{each.kind} +{each.items_per_user} +{each.users_to_appear} ", said)


@pytest.mark.parametrize("items", [{"queries": 2}, {"queries": 2, "keywords": 5}])
def test_a_small_log_is_told_how_many_items_it_yields_at_best(items: dict[str, int]) -> None:
    """Every kind takes some of each person's items, and the whole release keeps the goal."""
    goal = z.ProbabilisticDP(epsilon=1, delta="0.001", users=400)
    wish, each = draft(goal, **items), sum(items.values())
    most = 400 * each // 7  # an item needs 7 users
    assert wish.most_items() == wish.figures()["most_items"] == most
    said = " ".join(outlook_section(Page(80), wish, stated_users=True).split())
    assert f"400 users with at most {each} items each yield at most {most} items on average" in said
    large = draft(z.ProbabilisticDP(epsilon=1, delta="0.001", users=1_000_000), **items)
    assert "yield at most" not in outlook_section(Page(80), large, stated_users=True)


def test_a_delta_per_person_needs_no_confirmation() -> None:
    for users in (2, 999, 1000, 1001, 10_000_000):
        goal = z.Indistinguishability(
            epsilon=1, delta=default_delta("indistinguishable", users), users=users
        )
        assert draft(goal, queries=1).planned


def test_the_largest_epsilon_leaves_a_suspicion_nearly_certain() -> None:
    assert percent(suspicion_after(5000)) == "nearly 100 %"


def test_the_command_is_one_that_a_shell_reads_back() -> None:
    arguments = ["zealous", "publish", "my log's.csv", "--delimiter", ";", "--items", "columns:a b"]
    arguments += ["--user", "C ID", "--users", "5", "-o", "x"]
    arguments += with_values(["--basket", "-$(touch x)", "--time", "--a;b", "--url", "`c`"])
    line = command_line(arguments, 40)
    try:
        read_back = shlex.split(line.replace("\\\n", ""))
    except ValueError:  # a quotation that does not end
        read_back = []
    assert read_back == arguments
    assert arguments[-4:] == ["--basket=-$(touch x)", "--time=--a;b", "--url", "`c`"]
    assert "'--basket=-$(touch x)'" in line
    assert len(line.splitlines()) > 1


def test_the_output_is_a_directory_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    found = look_at_log([str(tmp_path / "shop.csv")], StatedFormat())
    assert new_output_name(found, tmp_path) == "shop-release"
    (tmp_path / "shop-release").mkdir()
    assert new_output_name(found, tmp_path) == "shop-release-2"


def test_a_look_at_the_log_expects_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"{user},tea\n{user},own {user}\n" for user in range(300)]
    path.write_text("user,query\n" + "".join(rows))
    users, (one,) = expected_items(z.read_log(path), [draft(queries=2)])
    assert users == 300
    assert one["queries"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("width", [40, 80])
def test_text_fits_its_width(tmp_path: Path, width: int) -> None:
    names = ["user", "a rather long name", *(f"a rather long heading {n}" for n in range(60))]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n")
    found = look_at_log([str(tmp_path / "wide.csv")], StatedFormat(header=True))
    shown = columns_section(Page(width), found)
    assert max(map(len, shown.splitlines()[1:])) <= width
    assert "60 other columns" in shown


def test_json_lines_have_all_names_but_of_what_one_line_alone_has(tmp_path: Path) -> None:
    lines = [
        {"uid": n, "q": "tea", "device": {"id": n}, "tags": ["a"], "seen": [{"x": 1}]}
        | ({"term": "milk"} if n % 9 == 1 else {})
        | ({"anna": 1} if n == 3 else {})
        for n in range(200)
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = look_at_log([str(tmp_path / "log.jsonl")], StatedFormat())
    assert found.format.columns == ("uid", "q", "device", "tags", "seen", "term")
    assert found.column("user") == "uid"
    assert [each.column for each in found.guesses if each.role == "object"] == ["device", "seen"]
    assert not any("device" in each.items or "seen" in each.items for each in offers(found))
    assert "an object: not usable" in columns_section(Page(80), found)
    with pytest.raises(UsageError, match=r"it has uid, q, .*Did you mean term") as wrong:
        look_at_log(found.paths, StatedFormat(), {"query": "terms"})
    assert "header" not in str(wrong.value)
    with pytest.raises(UsageError, match="holds lists"):
        check_kinds(found, [z.columns("tags", items_per_user=2)])
    with pytest.raises(UsageError, match="holds objects"):
        look_at_log(found.paths, StatedFormat(), {"user": "device"})
    with pytest.raises(UsageError, match=r"'\.NAME = \.device\.os'"):
        look_at_log(found.paths, StatedFormat(), {"query": "device.os"})
    log = z.read_log(tmp_path / "log.jsonl", columns=z.Columns(user="uid", query="q"))
    looked = inspect(log)
    assert looked.names == found.format.columns
    assert looked.columns == {"user": "uid", "query": "q"}


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ("Lfd-Nr.,Kunde,Farbe\n1,7,red\n", "columns:Farbe"),
        ("Lfd-Nr.,Kunde,PZN\n1,7,8812\n", None),
        ("Kunde,Farbe,Form\n7,red,round\n", None),
        ("Kunde,Farbe,Bezeichnung (Ware)\n7,red,tea\n", "columns:Bezeichnung (Ware)"),
    ],
)
def test_no_number_of_rows_is_proposed_as_an_item(
    tmp_path: Path, text: str, proposed: str | None
) -> None:
    (tmp_path / "log.csv").write_text(text)
    offer = default_offer(look_at_log([str(tmp_path / "log.csv")], StatedFormat()))
    assert (offer.items if offer else None) == proposed


def test_times_without_a_date_tell_no_days(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,time,query\n1,10:00:07,tea\n2,23:10:00,milk\n")
    found = look_at_log([str(tmp_path / "log.csv")], StatedFormat())
    assert found.units() == ["user"]
    with pytest.raises(UsageError, match="times with a date"):
        found.check_unit("user-day")
