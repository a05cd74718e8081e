"""What an invented shop sells, what is bought together in it, and what is bought afterwards.

The same in every shop: seeds make other customers, not other products. A product is a number: a
thing in a pattern. Things of a theme in one pattern are a collection; two to five of them are a
bundle, and the last two belong to each other as a printer and its ink do.
"""

import numpy as np

from zealous.synthetic.chance import Floats, Ints, integers_below, mix, uniform, zipf

NONE = -1

_PATTERNS = (
    "blue, red, green, ivory, black, pink, grey, mint, coral, navy, striped, spotted, floral, "
    "checked, retro, plain, starry, marbled, tropical, nordic"
)
# The ninth of a theme is what needs the tenth, some time later.
_THEMES = (
    "tea towel, apron, oven glove, mixing bowl, chopping board, salad bowl, storage jar, "
    "colander, coffee machine, coffee filters",
    "dinner plate, soup bowl, mug, tablecloth, napkin, water jug, cake stand, egg cup, "
    "pepper mill, peppercorns",
    "bath towel, soap dish, bath mat, shower curtain, toothbrush cup, laundry basket, "
    "hand mirror, face cloth, soap dispenser, soap refill",
    "pillowcase, duvet cover, bed throw, alarm clock, bedside rug, curtain, hot water bottle, "
    "dressing gown, room diffuser, diffuser oil",
    "cushion, picture frame, vase, door stop, wall clock, magazine rack, coaster, floor rug, "
    "table lamp, light bulb",
    "notebook, pencil case, desk tidy, ring binder, stapler, calendar, letter tray, ruler, "
    "printer, ink cartridge",
    "watering can, flower pot, garden gloves, trellis, plant label, wind chime, hanging basket, "
    "lantern, bird feeder, bird seed",
    "balloon, paper plate, paper cup, bunting, party hat, gift bag, candle, invitation card, "
    "bubble machine, bubble mix",
    "building blocks, jigsaw, skipping rope, teddy bear, story book, crayons, sticker sheet, "
    "toy drum, toy train, battery pack",
    "bib, baby blanket, rattle, sleep suit, changing mat, bottle warmer, cot mobile, sun hat, "
    "nappy bin, nappy bags",
    "yoga mat, water bottle, sweat band, gym bag, swim cap, knee pad, visor, running socks, "
    "tennis bat, tennis balls",
    "suitcase, wash bag, luggage tag, passport cover, neck pillow, travel mug, beach towel, "
    "umbrella, instant camera, film pack",
    "dog collar, dog lead, food bowl, pet bed, chew toy, cat tunnel, pet carrier, "
    "scratching post, litter tray, cat litter",
    "knitting needles, sewing box, pin cushion, ribbon, fabric square, glue stick, paint brush, "
    "button jar, label maker, label tape",
    "scarf, woolly hat, mittens, ankle socks, slippers, tote bag, hair band, belt, "
    "shoe cleaner, shoe polish",
)
_SIZE = 10  # of a collection
_MEMBERS, _MEMBER, _PULL, _RANK, _DEMAND, _PRICE = range(300, 306)  # streams of hashes

NAMES = tuple(
    f"{pattern} {thing}"
    for theme in _THEMES
    for pattern in _PATTERNS.split(", ")
    for thing in theme.split(", ")
)
_COLLECTIONS = len(NAMES) // _SIZE
_CHEAPEST, _DEAREST = 1.5, 60.0


def _prices() -> Floats:
    """What each product costs: the same in all patterns, and a cent less than a round number."""
    patterns, number = len(_PATTERNS.split(", ")), np.arange(len(NAMES))
    thing = number // (patterns * _SIZE) * _SIZE + number % _SIZE
    price = _CHEAPEST * (_DEAREST / _CHEAPEST) ** uniform(_PRICE, thing)
    return np.asarray(np.ceil(2 * price) / 2 - 0.01, np.float64)


PRICES = _prices()


def _bundles() -> Ints:
    """A bundle in each collection: (bundles, 5), NONE where it has fewer products."""
    collection = np.arange(_COLLECTIONS)
    order = np.argsort(mix(_MEMBER, collection[:, None], np.arange(_SIZE - 2)), axis=1)[:, :5]
    size = 2 + integers_below(4, _MEMBERS, collection)
    return np.where(np.arange(5) < size[:, None], collection[:, None] * _SIZE + order, NONE)


BUNDLES = _bundles()
# The chance that each product of a bundle is bought with it; the first is why one buys the bundle.
PULL = np.where(np.arange(5) == 0, 1.0, 0.35 + 0.5 * uniform(_PULL, BUNDLES))
# For each product the one that tends to be on the next invoice, or NONE.
FOLLOW_UP = np.where(np.arange(len(NAMES)) % _SIZE == 8, np.arange(len(NAMES)) + 1, NONE)

# Most popular first; what belongs to a popular bundle is also bought more by itself.
_BY_DEMAND = np.argsort(mix(_DEMAND, np.arange(_COLLECTIONS)))
_BY_RANK = np.argsort(
    uniform(_RANK, np.arange(len(NAMES)))
    + np.repeat(np.argsort(_BY_DEMAND) / _COLLECTIONS, _SIZE) / 2
)


def popular_products(u: Floats) -> Ints:
    """Products, the popular ones more often, from uniform u."""
    return _BY_RANK[zipf(u, power=0.95, shift=8.0, size=len(NAMES))]


def popular_bundles(u: Floats) -> Ints:
    """Rows of BUNDLES, the popular ones more often, from uniform u."""
    return _BY_DEMAND[zipf(u, power=0.7, shift=10.0, size=_COLLECTIONS)]
