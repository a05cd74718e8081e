"""What a column is, by its name alone: the person, the time, the query, what people bought.

Names in several languages are known. A guess is only ever a proposal that the owner can change. A
log is read by a name that nobody said only where it is the role's own, but for its spelling.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal[
    "user",
    "query",
    "time",
    "url",
    "session",
    "basket",
    "item",
    "amount",
    "personal",
    "attribute",
    "keywords",
    "list",
    "object",
]
ROLES: tuple[Role, ...] = ("user", "query", "time", "url", "session")  # of a log's entries

# Lower case, without accents, blanks or underscores; what is more usual stands first.
_NAMES: Mapping[Role, str] = {
    "user": (
        "user usr person customer cust patient anonid member client visitor account subscriber "
        "buyer shopper reader borrower participant respondent player passenger donor uid cookie "
        "requester device install citizen student employee kunde kundin benutzer "
        "nutzer mitglied besucher leser leserausweis ausweis "
        "utilisateur abonne adherent usuario cliente paciente socio utilizador utente paziente "
        "gebruiker klant uzytkownik klient anvandare bruger kayttaja kullanici musteri hasta "
        "пользователь клиент покупатель пациент 用户 客户 会员 顾客 患者 ユーザー ユーザ 顧客 会員 "
        "사용자 고객 회원"
    ),
    "session": (
        "session visit sitzung sesion sessao sessione sessie sesja сессия 会话 セッション 세션"
    ),
    "basket": (
        "basket cart invoice order transaction receipt encounter admission bill purchase ticket "
        "bestellung rechnung auftrag warenkorb beleg bon commande facture panier pedido factura "
        "compra ordine fattura bestelling zamowienie заказ чек 订单 发票 注文 伝票 주문"
    ),
    "query": (
        "query search searchterm searchquery searchphrase q suchbegriff suchanfrage anfrage suche "
        "requete recherche consulta busqueda pesquisa busca ricerca zoekterm zapytanie запрос "
        "查询 查询词 搜索词 搜索 关键词 検索 検索語 検索クエリ 검색어"
    ),
    "time": (
        "time timestamp datetime date ts day moment when created createdat updatedat eventtime "
        "at zeit datum uhrzeit zeitpunkt zeitstempel heure horodatage fecha hora data tempo czas "
        "tijd tijdstip tid время дата 时间 日期 時刻 日時 時間 날짜 시간"
    ),
    "url": "url urls clickurl link clickedurl uri 网址 链接 リンク",
    "item": (
        "item product article description stockcode sku diag diagnosis icd drug medication codes "
        "treatment procedure category genre title page path area book film movie song track artist "
        "course tag topic brand dish app keyword word event action produkt artikel ware titel "
        "diagnose kategorie beschreibung bezeichnung produit diagnostic categorie titre producto "
        "articulo diagnostico categoria titulo produto artigo prodotto articolo titolo produkty "
        "товар продукт диагноз 商品 产品 物品 诊断 类别 商品名 品目 診断 상품 제품 진단"
    ),
    "amount": (
        "quantity qty amount price unitprice total cost value count number rank itemrank position "
        "score rating duration weight length size lat lon latitude longitude menge preis betrag "
        "anzahl wert quantite prix montant cantidad precio importe quantidade preco quantita "
        "prezzo количество цена 数量 价格 金额 単価 価格 수량 가격"
    ),
    "personal": (
        "name firstname lastname surname fullname username email mail phone telephone mobile "
        "address street ip ipaddress birthdate birthday birth dateofbirth dob "
        "ssn iban passport comment note text bemerkung kommentar notiz "
        "message vorname nachname telefon adresse strasse geburtsdatum nom prenom courriel nombre "
        "apellido correo direccion telefono nome cognome sobrenome endereco indirizzo 姓名 名字 "
        "邮箱 电话 手机 地址 氏名 名前 住所 이름 주소"
    ),
    "attribute": (
        "country region state city language lang gender sex age agegroup plan segment channel "
        "browser platform os useragent agent referrer land pays pais paese stadt ville ciudad "
        "страна 国家 城市 国 나라"
    ),
}

# What only says that something is a label of something else: the id of a customer.
_LABELS = (
    "identifier",
    "number",
    "nummer",
    "numero",
    "code",
    "hash",
    "ref",
    "key",
    "num",
    "no",
    "nr",
    "id",
    "编号",
    "号",
    "番号",
    "번호",
)
_IDS = {*_LABELS, "row", "line", "index", "uuid", "guid", "zeile", "lfd", "lfdnr"} - {"code"}
# What stands between a thing and what it is of: of a `Date of visit` the first word tells.
_OF = ("of", "de", "du", "des", "der", "del", "della", "di", "do", "da", "van")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
# The names by which a role is recognised without being asked: no other column can be meant.
_OWN_NAMES: Mapping[Role, tuple[str, ...]] = {
    "user": ("user", "userid"),
    "query": ("query",),
    "time": ("time", "timestamp"),
    "url": ("url", "urls"),
    "session": ("session", "sessionid"),
}
_NEAR = 0.8
_SHORTEST = 4  # letters of a name that a misspelt one can be near


def _fold_case_and_accents(text: str) -> str:
    """Lower case without accents: `Kunden-Nr.` and `kundennr` are the same.

    >>> _fold_case_and_accents("Requête")
    'requete'
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(each for each in apart if not unicodedata.combining(each))
    return "".join(filter(str.isalnum, unicodedata.normalize("NFC", bare)))


_KNOWN: Mapping[Role, list[str]] = {
    role: [_fold_case_and_accents(name) for name in names.split()] for role, names in _NAMES.items()
}
_ROLE_OF: dict[str, Role] = {name: role for role, names in _KNOWN.items() for name in names}


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What a column was taken for.

    Attributes:
        column: Its name.
        role: What it seems to be; `attribute` where its name says nothing.
        near: The known name that it is near to, where it is not a known one itself.
    """

    column: str
    role: Role
    near: str | None = None


def guess_roles(columns: Sequence[str]) -> tuple[Guess, ...]:
    """What each column seems to be; those that must be one, such as the query, are one at most.

    >>> [each.role for each in guess_roles(["CustomerID", "InvoiceDate", "StockCode", "Kunde"])]
    ['user', 'time', 'item', 'attribute']
    """
    found = {column: _guess(column) for column in columns}
    for role in ("user", "query", "time", "url", "session", "basket"):
        same = [each for each in found.values() if each.role == role]
        for other in sorted(same, key=_doubt)[1:]:
            found[other.column] = Guess(column=other.column, role="attribute")
    return tuple(found[column] for column in columns)


def columns_called(role: Role, columns: Iterable[str]) -> list[str]:
    """The columns that have a role's own name, however it is spelt.

    >>> columns_called("user", ["userId", "User-ID", "user name", "customer"])
    ['userId', 'User-ID']
    """
    return [each for each in columns if _fold_case_and_accents(each) in _OWN_NAMES[role]]


def column_of(guesses: Sequence[Guess], role: Role) -> str | None:
    """The column that was taken for something, if one was."""
    return next((each.column for each in guesses if each.role == role), None)


def is_label(column: str) -> bool:
    """Whether a name says that the values are ids or numbers of something, or of the rows.

    >>> [is_label(each) for each in ("Lfd-Nr.", "install_id", "Row No.", "StockCode", "colour")]
    [True, True, True, False, False]
    """
    return any(word in _IDS for word in _words(column))


def is_known(column: str) -> bool:
    """Whether a name has no other words than columns usually have: it tells nothing of anybody.

    >>> [is_known(each) for each in ("Customer ID", "QueryTime", "flight ticket", "user17")]
    [True, True, False, False]
    """
    words = _words(column)
    told = any(word not in _LABELS for word in words)
    return "".join(words) in _ROLE_OF or (told and all(map(_is_usual_word, words)))


def _is_usual_word(word: str) -> bool:
    """Whether it is a known name, a label or both in one word, such as `userid`."""
    bare = (word, *(word.removesuffix(label) for label in _LABELS))
    return word in _LABELS or any(each in _ROLE_OF for each in bare)


def _guess(column: str) -> Guess:
    words = _words(column)
    readings = _candidate_names(words)
    for name in readings:
        role = _ROLE_OF.get(name)
        if role == "personal" and len(words) > 1 and _ROLE_OF.get(words[0]) == "item":
            role = "item"  # the name of a product is nobody's
        if role:
            return Guess(column=column, role=role)
    for name in readings:
        near = difflib.get_close_matches(name, _ROLE_OF, n=1, cutoff=_NEAR)
        if near and min(len(name), len(near[0])) >= _SHORTEST:
            return Guess(column=column, role=_ROLE_OF[near[0]], near=near[0])
    return Guess(column=column, role="attribute")


def _words(column: str) -> list[str]:
    return [plain for word in _WORDS.findall(column) if (plain := _fold_case_and_accents(word))]


def _candidate_names(words: Sequence[str]) -> list[str]:
    """The names to look for, the best first: all of it, without its label, its last word.

    >>> _candidate_names(["date", "of", "visit"])[:2], _candidate_names(["movie", "tags"])[:3]
    (['dateofvisit', 'date'], ['movietags', 'tags', 'tag'])
    """
    every = [word for word in words if not word.isdigit()]
    text = next((every[:at] for at, word in enumerate(every) if at and word in _OF), every)
    whole = ["".join(every), "".join(text)]
    bare = "".join(word for word in text if word not in _LABELS)
    cut = next((bare.removesuffix(label) for label in _LABELS if bare.endswith(label)), bare)
    front = next((bare.removeprefix(label) for label in _LABELS if bare.startswith(label)), bare)
    last = text[-1:] if text and text[-1] not in _LABELS else []
    one = [name.removesuffix("s") for name in last if len(name) > _SHORTEST - 1]
    names = [*whole, bare, cut, *last, *one, front, *(every[-1:] if text != every else [])]
    return [name for name in dict.fromkeys(names) if name]


def _doubt(guess: Guess) -> tuple[bool, int]:
    """How doubtful a guess is: near matches last, then names in the order of the list."""
    names = _KNOWN[guess.role]
    places = [names.index(each) for each in _candidate_names(_words(guess.column)) if each in names]
    return guess.near is not None, min(places, default=len(names))
