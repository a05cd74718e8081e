"""Names that many people of the United States have: what scrubbing knows of names.

Those that are also everyday words or places are apart: alone they are no reason to cut a query.
"""

from __future__ import annotations

_GIVEN = """
    aaron abby abigail abraham ada adam adrian adriana adrienne agnes aidan aiden aimee alan albert
    alberto alejandra alejandro alex alexander alexandra alexis alfred alfredo alice alicia alisha
    alison alissa allan allen allison alma alvin alyssa amanda amelia amos amy ana anabel andre
    andrea andres andrew andy angela angelica angelina angelo angie anita ann anna anne annette
    annie anthony antoinette antonio ariana arlene armando arnold arthur arturo ashlee ashley ashton
    audrey ava barbara barney barry beatrice becky belinda bella ben benjamin bernadette bernard
    bernice bert bertha bessie beth bethany betsy betty beulah beverly bianca billie billy blanca
    bob bobbie bobby bonnie boris brad bradley brandi brandon breanna brenda brendan brent brett
    brian briana brianna bridget brittany brittney brooke bruce bryan bryant byron caitlin caleb
    calvin cameron camille candace candice carl carla carlos carlton carmen carole caroline carolyn
    carrie casandra cassandra cassie catherine cathy cecelia cecil cecilia cedric celeste celia
    cesar charlene charles charlie chelsey cheryl chester chloe chris christie christina christine
    christopher christy cindy claire clara clarence claude claudia clayton clifford clifton clinton
    clyde cody colin colleen connie connor conor constance cora corey cory courtney craig cristina
    curtis cynthia damon dan dana daniel danielle danny darlene darrell darren darryl dave david
    deanna debbie deborah debra delores denise dennis derek derrick desiree devin dexter diana diane
    dianne diego dolores dominic dominique donald donna dora doreen doris dorothy doug douglas duane
    dustin dwayne dwight dylan eddie edgar edith edna eduardo edward edwin eileen elaine eleanor
    elena eli elias elijah elisa elisabeth elise elizabeth ella ellen ellie elmer eloise elsa elsie
    emilio emily emma enrique eric erica ericka erik erika erin erma ernest ernesto ernie esther
    ethan ethel eugene eunice eva evan evelyn fannie felicia felipe felix fernando fiona floyd
    forrest frances francisco franklin fred freda freddie frederick gabriel gabriela gabrielle gail
    garrett gary genevieve geoffrey george gerald geraldine gerard gerardo gertrude gilbert gina
    gladys glen glenda glenn gloria gordon greg gregg gregory gretchen grover guadalupe guillermo
    gwen gwendolyn hank hannah harold harriet harry harvey hattie hector heidi helen henrietta henry
    herbert herman hilda homer howard hugh hugo ian ida ignacio igor inez ingrid irene irma irving
    isaac isabel isabella isaiah ismael ivan jacob jacqueline jacquelyn jaime jake james jamie jana
    jane janelle janet janice janie jared jason javier jay jayden jeanette jeanne jeannie jeff
    jeffery jeffrey jenna jennie jennifer jenny jeremiah jeremy jermaine jerome jerry jesse jessica
    jessie jill jillian jim jimmie jimmy jo joan joann joanna joanne jodi jodie jody joe joel joey
    johanna john johnathan johnnie johnny jon jonathan jorge jose josefina joseph josephine josh
    joshua josiah joyce juan juana juanita judith judy julia julian juliana julie julio julius
    justin kaitlyn kara karen karina karl karla kate katelyn katherine kathleen kathryn kathy katie
    katrina kay kayla keith kelley kelli kellie kelly kelsey ken kendra kenneth kenny kent kerry
    kevin kim kimberly kirk krista kristen kristi kristie kristin kristina kristine kristopher
    kristy krystal kurt kyle lana landon larry latoya laura lauren laurence laurie lawrence leah
    leann lee leigh lena leo leon leona leonard leroy leslie lester leticia levi lewis liam lila
    lillian lillie linda lindsay lindsey lisa lloyd logan lois lola lonnie lora loren lorena lorenzo
    loretta lori lorraine lou louis louise luca lucas lucia lucille lucy luis luke lula luther luz
    lydia lyle lynda lynette lynn lynne mabel mable mae maggie mandy manuel marc marcella marcia
    marco marcos marcus margaret margarita margie marguerite maria marian marianne maribel marie
    marilyn mario marion marisa marissa marjorie marla marlene marsha marshall marta martha martin
    marvin mary maryann mathew matt matthew mattie maureen maurice maxine megan meghan mel melanie
    melba melinda melissa melvin meredith mia michael micheal michele michelle miguel mike mildred
    milton mindy minnie miranda miriam mitch mitchell molly mona monica monique muriel myra myron
    nadia nadine nancy naomi natalie natasha nate nathan nathaniel ned neil nellie nelson nettie
    nicholas nichole nicolas nicole nina noah noel nora norma norman olga oliver olivia ollie omar
    oscar otis otto owen pablo pam pamela patricia patrick patti paul paula paulette pauline paxton
    pedro peggy percy perry pete peter phil philip phillip phyllis priscilla quentin rachael rachel
    rafael ralph ramon ramona randall randolph randy raul raymond rebecca regina reginald rene renee
    rhonda ricardo richard rick ricky rita robert roberta roberto robyn rochelle roderick rodney
    roger roland rolando ron ronald ronnie rosa rosalie rosalind rosario roscoe rosemarie rosie ross
    roxanne roy ruben rudolph rudy rufus russell ruth ryan sabrina sadie sally salvador salvatore
    sam samantha sammy samuel sandra sara sarah saul scott sean selma serena sergio seth shane
    shannon shari sharon shaun shawn shawna sheila shelby shelia shelley shelly sheri sherri sherrie
    sheryl shirley sidney silas silvia simon skyler sonia sonja sonny sonya sophia sophie spencer
    stacey stacie stacy stanley stella stephanie stephen steve steven stewart stuart susan susie
    suzanne sylvester sylvia tabitha tamara tami tammy tanya tara tasha taylor ted terence teresa
    teri terrance terrell terrence terri terry tessa thelma theo theodore theresa thomas tiffany tim
    timothy tina todd tom tomas tommy toni tonia tony tonya tracey traci tracie tracy travis trent
    trevor tricia tristan troy ty tyler tyrone ursula valerie vanessa vera verna vernon veronica
    vicki vickie vicky victor vince vincent virgil vivian wallace walter wanda warren wayne wendell
    wendy wesley whitney wilbert wilbur wilfred willard william willie willis wilma wilson winifred
    winston yolanda yvette yvonne zachary zelda zoe
"""

_SURNAMES = """
    abbott acosta adams aguilar aguirre alexander allen allison alvarado alvarez anderson andrews
    armstrong arnold atkins atkinson ayala bailey baldwin ballard barker barnes barnett barrera
    barrett barron bartlett barton bauer beasley becker beltran benitez bennett benson bernard
    blackburn blackwell blair blake blanchard blankenship boone bowen bowers bowman boyd boyle
    bradford bradley brady briggs brock brooks browning bryant buchanan buckley burgess burke
    burnett burton byrd cabrera cain calderon caldwell calhoun callahan camacho cameron campbell
    campos cantu cardenas carey carlson carr carrillo carroll carson carter carver castaneda
    castillo castro cervantes chan chandler chang chapman chavez chen christensen clark clarke
    clayton clements cline cobb cochran cohen coleman collier collins compton conley conner
    contreras conway cooper copeland cordova cortez cowan cox craig crawford crosby cruz cuevas
    cummings cunningham curtis dalton daniels daugherty davenport davidson davies davila davis
    dawson dejesus delacruz delarosa deleon delgado dennis diaz dickerson dickson dillon dixon
    dodson dominguez donaldson donovan dorsey dougherty douglas doyle dudley duffy duncan dunlap
    dunn duran dyer eaton edwards elliott ellis ellison erickson escobar esparza espinosa espinoza
    estes estrada evans everett ewing farley farrell faulkner ferguson fernandez ferrell figueroa
    finley fischer fitzgerald fitzpatrick fleming fletcher flores floyd flynn foley forbes fowler
    francis franco franklin frazier frederick freeman fritz frye fuentes fuller gaines galindo
    gallagher gallegos gallo galloway galvan garcia gardner garner garrett garrison garza george
    gibbs gibson gilbert giles gillespie gilmore glenn glover gomez gonzales gonzalez goodman
    goodwin gordon gould graham greene greer gregory griffin griffith griffiths grimes guerra
    guerrero gutierrez guzman hahn haley hammond hampton hancock hanna hansen hanson hardin harding
    harmon harper harrell harrington harris harrison hart hartman harvey hatfield hawkins hayden
    hayes haynes hebert henderson hendricks hendrix henry hensley henson herman hernandez herrera
    hess hester hewitt hickman hicks higgins hines hinton hobbs hodge hodges hoffman hogan holden
    holloway holmes holt hooper hoover hopkins horne horton howard howe howell hubbard huber huff
    huffman hughes humphrey hurley hurst hutchinson ibarra ingram irwin jackson jacobs jacobson
    james jarvis jefferson jenkins jennings jensen jimenez johns johnson johnston jones jose joseph
    joyce juarez kane kaufman keller kelley kelly kemp kennedy kent kerr khan kim kirby kirk klein
    kline knapp knox kramer krause krueger lambert landry lang larsen larson lawrence lawson leblanc
    lee leonard levine levy lewis li lin lindsay lindsey liu livingston lloyd logan lopez lowe
    lowery lozano lucas lucero lugo luna lynch lynn lyons macdonald macias mack madden maddox
    mahoney maldonado malone mann manning marquez marshall martin martinez martins massey mathews
    mathis matthews maxwell maynard mays mcbride mccall mccann mccarthy mccarty mcclain mcclure
    mcconnell mccormick mccoy mccullough mcdaniel mcdonald mcdowell mcfarland mcgee mcgrath mcguire
    mcintosh mcintyre mckay mckee mckenzie mckinney mcknight mclaughlin mclean mcmahon mcmillan
    mcneil mcpherson medina mejia melendez melton mendez mendoza mercado mercer merrill merritt
    meyer meyers meza michael middleton miller mitchell molina monroe montes montoya mooney moore
    mora morales moran moreno morgan morris morrison morrow morse morton moses mosley moyer mueller
    mullen mullins munoz murillo murphy murray myers nash nava navarro neal nelson newman newton
    nguyen nichols nicholson nielsen nixon nolan norman norris norton novak nunez obrien ochoa
    oconnell oconnor odom odonnell oliver olsen olson oneal oneill orozco orr ortega ortiz osborn
    osborne owen owens pacheco padilla palmer parker parrish parsons patel patrick patterson patton
    paul payne pearce pearson peck pena pennington perez perkins perry peters petersen peterson pham
    phan phelps phillips pineda pittman pitts pollard ponce poole potts powell pratt preston proctor
    pruitt pugh quinn quintero ramirez ramos ramsey randall randolph rangel rasmussen raymond reese
    reeves reid reilly reyes reynolds rhodes richard richards richardson riley rios rivas rivera
    robbins roberts robertson robinson robles rocha rodgers rodriguez rogers rojas romero rosales
    rosario rosas roth rowe rowland roy rubio ruiz russell russo rutledge ryan salas salazar salgado
    salinas sampson sanchez sanders sandoval sanford santana santos saunders sawyer schaefer schmidt
    schmitt schneider schroeder schultz schwartz scott serrano sexton shaffer shah shannon shaw shea
    shelton shepard sheppard sherman silva simmons simon simons simpson sims sinclair singh
    singleton skinner sloan smith snyder solis solomon sosa soto spencer stafford stanley stanton
    steele stein stephens stephenson stevens stevenson stewart stokes strickland stuart suarez
    sullivan sutton swanson sweeney tanner tapia tate taylor terrell terry thomas thompson thornton
    townsend tran travis trejo trevino trujillo tucker turner tyler underwood valdez valenzuela
    vance vang vargas vasquez vaughan vaughn vazquez vega velasquez velazquez velez villanueva
    villarreal villegas vincent wagner wallace walsh walter walters walton warner warren watkins
    watson webb weber webster weiss welch whitaker whitehead whitney wiggins wilcox wiley wilkerson
    wilkins wilkinson williams williamson willis wilson wolfe wong woodard woodward wright wu wyatt
    yang yates yoder yu zamora zavala zhang zimmerman zuniga
"""

# Also everyday words or places: cut only beside another name, or after a title.
_GIVEN_WORDS = """
    alexandria amber angel april art august austin autumn bill brandy brooklyn candy carol carolina
    charity charlotte chase chelsea cherry chip christian chuck clay cliff colt crystal daisy dakota
    dale dallas dawn dean destiny dick don drew earl ed eden eve faith flora florence frank gene
    geneva georgia ginger grace grant guy harmony haven hazel heath heather heaven holly hope
    houston hunter iris israel ivy jack jade jan jasmine jasper jean jesus jewel jordan joy june
    justice kitty lance lane laurel liberty lily lincoln london madison marina mark marlin mason max
    may melody mercedes mercy miles misty myrtle nick norm olive opal orlando paris pat patty pearl
    penny phoenix pierce piper ray reed rex rich river rob robin rocky roman rose rosemary ruby
    rusty sage sandy savannah sherry sierra skip sky star sterling sue summer sydney teddy trinity
    van victoria viola violet virginia wade ward will wolf woody
"""
_SURNAME_WORDS = """
    austin baker ball banks barber bass beach bean bell berry best bird bishop black bond booth
    brewer brown buck burns bush butler camp cannon carpenter case chambers chase cherry christian
    church clay colon combs cook costa craft crane cross dale day dean decker dell downs drake
    durham english farmer field fields finch fish fisher flowers ford foster fox frank french frost
    gamble gates gay gentry gill glass gold golden good grant graves gray green grey gross guy hall
    hardy haven head heath herring hill ho holland holly hood hope house houston hudson hull hunt
    hunter ivy jordan judge key king kirkland knight lake lamb lane law leach lincoln little long
    love low madison marks marsh mason may mills montgomery moody moon moss noble page paris park
    parks penn petty pierce pike pope porter post potter powers price prince ray reed rice rich
    richmond riddle rivers rose rush santiago savage sears sharp shepherd shields short sierra small
    snow sparks spears stark stone strong summers swan thorn valencia valentine villa vu wade walker
    wall walls ward ware washington waters watts weaver weeks wells west wheeler white wilder willow
    winter winters wise wolf wood woods wren york young
"""

# Those that with a family name of these make a name all the same: mark brown, but not robin hood.
_FIRST = "bill carol chuck dean dick don drew frank gene jack jean lance mark nick norm pat rob"

# What a name follows; and what needs a dot to be a title.
_TITLES = "aunt doctor dr frau herr madame miss mr mrs ms prof professor rev sir uncle"
_ABBREVIATED = "prof rev"

# Where names are places after all, each by its first word.
_PLACES = {
    "san": "angelo antonio diego francisco jose juan luis marcos rafael salvador",
    "santa": "ana barbara clara cruz maria monica rosa",
    "saint": "charles george john joseph louis martin patrick paul thomas vincent",
    "st": "charles george john joseph louis martin patrick paul thomas vincent",
    "el": "salvador",
    "fort": "collins knox lee myers smith wayne",
    "lake": "charles constance george louise",
    "mount": "vernon",
    "mt": "vernon",
    "port": "arthur",
    "ann": "arbor",
    "beverly": "hills",
    "carson": "city",
    "hoover": "dam",
    "jackson": "hole mississippi ms",
    "jefferson": "city",
    "johnson": "city",
    "logan": "airport",
    "martha": "vineyard",
    "prince": "edward george",
}

# The areas that British postcodes begin with.
_AREAS = """
    ab al b ba bb bd bh bl bn br bs bt ca cb cf ch cm co cr ct cv cw da dd de dg dh dl dn dt dy e ec
    eh en ex fk fy g gl gu gy ha hd hg hp hr hs hu hx ig im ip iv je ka kt kw ky l la ld le ll ln ls
    lu m me mk ml n ne ng nn np nr nw ol ox pa pe ph pl po pr rg rh rm s sa se sg sk sl sm sn so sp
    sr ss st sw sy ta td tf tn tq tr ts tw ub w wa wc wd wf wn wr ws wv yo ze
"""

GIVEN = frozenset(_GIVEN.split())
SURNAMES = frozenset(_SURNAMES.split())
GIVEN_WORDS = frozenset(_GIVEN_WORDS.split())
SURNAME_WORDS = frozenset(_SURNAME_WORDS.split())
FIRST = frozenset(_FIRST.split())
TITLES = frozenset(_TITLES.split())
ABBREVIATED = frozenset(_ABBREVIATED.split())
PLACES = frozenset((word, after) for word, listed in _PLACES.items() for after in listed.split())
AREAS = frozenset(_AREAS.split())
