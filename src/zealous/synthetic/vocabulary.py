"""The everyday words at the head of the vocabulary: data, no logic.

Twenty-four subjects of search, each with its things and the words people add to them. The long
tail of words is not stored but spelled from its rank, see `words`. Brands and people are invented.
"""

SUBJECTS: tuple[tuple[str, str], ...] = (
    # its things, most sought first; what people add to them
    (
        "weather, forecast, storm, hurricane, radar, temperature, rain, snow, tornado, flood, "
        "humidity, drought, thunder, barometer, climate, wind",
        "today, tomorrow, map, warning, hourly, report, satellite, weekend",
    ),
    (
        "flights, hotel, airport, cruise, beach, resort, passport, luggage, train, island, "
        "vacation, campground, motel, castle, museum, ferry",
        "tickets, deals, packages, reservations, schedule, map, rentals, visa",
    ),
    (
        "diabetes, headache, pregnancy, asthma, allergy, cancer, vitamin, arthritis, flu, "
        "insomnia, migraine, cholesterol, thyroid, eczema, anemia, rash",
        "symptoms, treatment, causes, diet, medicine, test, doctor, side-effects",
    ),
    (
        "recipe, chicken, cake, soup, pasta, salad, bread, chili, cookies, pizza, curry, salmon, "
        "lasagna, pancake, steak, gravy",
        "recipes, easy, oven, ingredients, calories, homemade, vegetarian, jalapeño",
    ),
    (
        "lyrics, song, guitar, piano, concert, album, drums, violin, karaoke, opera, choir, "
        "banjo, orchestra, radio, trumpet, melody",
        "lyrics, chords, tabs, download, video, tour, mp3, cover",
    ),
    (
        "movie, cinema, trailer, actor, cartoon, comedy, western, thriller, sequel, documentary, "
        "director, script, animation, drama, theater, premiere",
        "showtimes, cast, dvd, review, soundtrack, quotes, wallpaper, rating",
    ),
    (
        "car, truck, motorcycle, tires, engine, brakes, trailer, convertible, minivan, "
        "transmission, battery, radiator, exhaust, clutch, sedan, bumper",
        "parts, dealer, prices, manual, repair, insurance, mileage, blue-book",
    ),
    (
        "house, apartment, mortgage, condo, realtor, cabin, furniture, kitchen, bathroom, garage, "
        "roof, carpet, sofa, mattress, fence, basement",
        "rent, listings, rates, plans, foreclosure, ideas, remodeling, designs",
    ),
    (
        "bank, loan, credit, tax, stocks, budget, retirement, bonds, pension, currency, refund, "
        "savings, dividend, debt, interest, lottery",
        "calculator, rates, forms, score, online-account, advice, consolidation, numbers",
    ),
    (
        "jobs, resume, salary, interview, career, internship, nursing, teacher, plumber, "
        "accountant, electrician, warehouse, union, payroll, welder, secretary",
        "openings, part-time, résumé, description, training, hiring, application, wages",
    ),
    (
        "college, university, math, science, history, essay, dictionary, algebra, spelling, "
        "biology, chemistry, grammar, scholarship, geometry, physics, kindergarten",
        "worksheets, homework, answers, admission, courses, definition, lessons, degree",
    ),
    (
        "football, baseball, basketball, soccer, hockey, golf, tennis, wrestling, swimming, "
        "boxing, marathon, bowling, cricket, rugby, volleyball, surfing",
        "scores, schedule, standings, tickets, roster, rules, stats, playoffs",
    ),
    (
        "games, poker, chess, sudoku, crossword, puzzle, solitaire, checkers, bingo, arcade, "
        "dominoes, trivia, blackjack, mahjong, backgammon, pinball",
        "cheats, codes, walkthrough, play, multiplayer, demo, hints, board",
    ),
    (
        "computer, printer, laptop, software, virus, modem, keyboard, spyware, browser, scanner, "
        "firewall, router, monitor, database, webcam, spreadsheet",
        "driver, download, install, error, update, wireless, repair, settings",
    ),
    (
        "ringtones, phone, cellphone, voicemail, headset, charger, texting, prepaid, antenna, "
        "handset, roaming, pager, landline, fax, switchboard, intercom",
        "plans, unlock, number, coverage, accessories, bill, wallpaper, lookup",
    ),
    (
        "coupons, shoes, dress, jewelry, handbag, perfume, watches, jeans, boots, sunglasses, "
        "costume, lingerie, toys, bicycle, gift, backpack",
        "discount, wholesale, store, catalog, clearance, size, plus-size, outlet",
    ),
    (
        "dog, cat, puppy, horse, fish, bird, rabbit, hamster, turtle, snake, parrot, goat, "
        "kitten, poodle, beagle, ferret",
        "breeders, food, training, names, rescue, grooming, cages, adoption",
    ),
    (
        "roses, tomato, lawn, garden, tulips, compost, orchid, shrubs, fertilizer, greenhouse, "
        "mulch, daisy, cactus, hedge, pumpkin, lavender",
        "seeds, planting, care, pruning, pests, plans, season, nursery",
    ),
    (
        "wedding, baby, birthday, anniversary, divorce, adoption, shower, christening, reunion, "
        "funeral, bride, godmother, toddler, twins, genealogy, daycare",
        "invitations, poems, cakes, names, favors, speeches, records, announcement",
    ),
    (
        "news, election, senator, president, war, oil, congress, earthquake, trial, verdict, "
        "protest, immigration, scandal, governor, embassy, treaty",
        "headlines, poll, results, latest, photos, opinion, timeline, live",
    ),
    (
        "maps, directions, county, city, zipcode, library, courthouse, park, zoo, lake, river, "
        "bridge, village, harbor, church, mountain",
        "driving, address, hours, directory, population, history, events, café",
    ),
    (
        "quilt, knitting, crochet, sewing, pottery, origami, scrapbook, embroidery, woodworking, "
        "candles, beads, stencil, loom, clay, painting, calligraphy",
        "patterns, kits, supplies, instructions, stitches, ideas, beginners, printable",
    ),
    (
        "bible, prayer, horoscope, psalm, zodiac, angel, tarot, gospel, meditation, hymn, "
        "astrology, rosary, sermon, saint, monastery, pilgrimage",
        "verses, meaning, daily, quotes, study, signs, reading, love",
    ),
    (
        "lawyer, court, statute, custody, bankruptcy, warrant, patent, trademark, probate, "
        "notary, lawsuit, jury, parole, copyright, zoning, alimony",
        "forms, records, laws, fees, search, filing, attorney, cases",
    ),
)

# What people add to anything. Those in BEFORE stand in front of the thing.
GENERIC = (
    "free, cheap, best, new, used, pictures of, how to, what is, online, pictures, reviews, for "
    "sale, near me, information, sites, list, club, magazine, blog, forum, company, center, "
    "services, books, video, photos, small, vintage, american, español, 2010, 2011, and, guide, "
    "tips, types of, world, kids, women, men"
)
BEFORE = (
    "free, cheap, best, new, used, pictures of, how to, what is, small, vintage, american, types "
    "of, easy, homemade"
)

FIRST_NAMES = (
    "ada, albert, alma, amos, anita, barney, bella, boris, carla, cedric, clara, cora, daisy, "
    "dexter, dolores, edgar, edith, elmer, emma, ernest, felix, fiona, flora, gilbert, gloria, "
    "grace, hector, hilda, homer, ida, igor, irene, ivan, jasper, joan, julius, karen, kurt, "
    "laura, leon, lola, lucy, mabel, marla, max, mildred, minnie, mona, nadia, ned, nora, olga, "
    "oscar, otto, pablo, paula, pearl, percy, quentin, ramona, rex, rita, rosa, rufus, sadie, "
    "selma, silas, stella, tessa, theo, ursula, vera, victor, viola, walter, wanda, wilma, "
    "winston, yolanda, zelda"
)

# What people add to a person's name, and the kinds of road an address ends in.
ABOUT_A_PERSON = "address, phone number, obituary, arrest record, divorce, married, employer"
ROADS = "street, avenue, road, lane, drive"
