"""Names that many people of the United States have: what scrubbing knows of names.

Those that are also everyday words or places are apart: alone they are no reason to cut a query.
"""

from __future__ import annotations

_GIVEN = """
    aaron abby abigail abraham ada adam adrian adriana adrienne agnes aidan aiden aimee alan albert
    alberto alejandra alejandro alex alexander alexandra alexandria alexis alfred alfredo alice
    alicia alisha alison alissa allan allen allison alma alvin alyssa amanda amelia amos amy ana
    anabel andre andrea andres andrew andy angela angelica angelina angelo angie anita ann anna anne
    annette annie anthony antoinette ariana arlene armando arnold arthur arturo ashlee ashley audrey
    ava barbara barney barry beatrice becky belinda bella ben benjamin bernadette bernard bernice
    bert bertha bessie beth bethany betsy betty beulah beverly bianca billie billy blanca bob bobbie
    bobby bonnie boris brad bradley brandi brandon brandy breanna brenda brendan brent brett brian
    briana brianna bridget brittany brittney bruce bryan bryant byron caitlin caleb calvin cameron
    camille candace candice carl carla carlos carlton carmen carole caroline carolyn carrie casandra
    cassandra cassie catherine cathy cecelia cecil cecilia cedric celeste celia cesar charlene
    charles charlie chelsey cheryl chester chloe chris christie christina christine christopher
    christy cindy claire clara clarence claude claudia clayton clifford clifton clinton clyde cody
    colleen connie connor conor constance cora corey cory courtney craig cristina curtis cynthia
    damon dan dana daniel danielle danny darlene darrell darren darryl dave david deanna debbie
    deborah debra delores denise dennis derek derrick desiree devin dexter diana diane dianne
    dolores dominic dominique donald donna dora doreen doris dorothy doug douglas duane dustin
    dwayne dwight dylan eddie edgar edith edna eduardo edward edwin eileen elaine eleanor elena eli
    elias elijah elisa elisabeth elise elizabeth ella ellen ellie elmer eloise elsa elsie emilio
    emily emma enrique eric erica ericka erik erika erin erma ernest ernesto ernie esther ethan
    ethel eugene eunice eva evan evelyn fannie felicia felipe felix fernando fiona flora floyd
    frances franklin fred freda freddie frederick gabriel gabriela gabrielle gail garrett gary
    geneva genevieve geoffrey george gerald geraldine gerard gerardo gertrude gilbert gina gladys
    glen glenda glenn gloria gordon greg gregg gregory gretchen grover guadalupe guillermo gwen
    gwendolyn hank hannah harold harriet harry harvey hattie hazel hector heidi helen henrietta
    henry herbert herman hilda homer howard hugh hugo ian ida ignacio igor inez ingrid irene irma
    irving isaac isabel isabella isaiah ismael ivan jacob jacqueline jacquelyn jaime jake james
    jamie jana jane janelle janet janice janie jared jasmine jason jay jayden jeanette jeanne
    jeannie jeff jeffery jeffrey jenna jennie jennifer jenny jeremiah jeremy jermaine jerome jerry
    jesse jessica jessie jill jillian jim jimmie jimmy joan joann joanna joanne jodi jodie jody joe
    joel joey johanna john johnathan johnnie johnny jon jonathan jorge josefina joseph josephine
    josh joshua joyce juan juana juanita judith judy julia julian juliana julie julio julius justin
    kaitlyn kara karen karina karl karla kate katelyn katherine kathleen kathryn kathy katie katrina
    kayla keith kelley kelli kellie kelly kelsey ken kendra kenneth kenny kent kerry kevin kim
    kimberly kirk krista kristen kristi kristie kristin kristina kristine kristopher kristy krystal
    kurt kyle lana larry latoya laura lauren laurence laurie lawrence leah leann leigh lena leo leon
    leona leonard leroy leslie lester leticia levi lewis liam lila lillian lillie linda lindsay
    lindsey lisa lloyd logan lois lola lonnie lora loren lorena lorenzo loretta lori lorraine lou
    luca lucas lucia lucille lucy luis luke lula luther luz lydia lyle lynda lynette lynn lynne
    mabel mable mae maggie mandy manuel marc marcella marcia marco marcos marcus margaret margarita
    margie marguerite maria marian marianne maribel marie marilyn mario marion marisa marissa
    marjorie marla marlene marsha marshall marta martha martin marvin mary maryann mathew matt
    matthew mattie maureen maurice maxine megan meghan melanie melba melinda melissa melvin meredith
    michael micheal michele michelle miguel mike mildred milton mindy minnie miranda miriam mitch
    mitchell molly mona monica monique muriel myra myron myrtle nadia nadine nancy naomi natalie
    natasha nate nathan nathaniel ned neil nellie nelson nettie nicholas nichole nicolas nicole nina
    noah noel nora norma norman olga oliver olivia ollie omar oscar otis otto owen pablo pam pamela
    patricia patrick patti patty paul paula paulette pauline pedro peggy percy perry peter phil
    philip phillip phyllis priscilla quentin rachael rachel rafael ralph ramon ramona randall
    randolph randy raul raymond rebecca regina reginald rene renee rhonda ricardo richard rick ricky
    rita robert roberta roberto robyn rochelle roderick rodney roger roland rolando ron ronald
    ronnie rosa rosalie rosalind rosario roscoe rosemarie rosie ross roxanne roy ruben rudolph rudy
    rufus russell ruth ryan sabrina sadie sally salvatore sam samantha sammy samuel sandra sara
    sarah saul scott sean selma sergio seth shane shannon shari sharon shaun shawn shawna sheila
    shelia shelley shelly sheri sherri sherrie sherry sheryl shirley sidney silas silvia simon sonia
    sonja sonya sophia sophie spencer stacey stacie stacy stanley stella stephanie stephen steve
    steven stewart stuart susan susie suzanne sylvester sylvia tabitha tamara tami tammy tanya tara
    tasha taylor ted terence teresa teri terrance terrell terrence terri terry tessa thelma theo
    theodore theresa thomas tiffany tim timothy tina todd tom tomas tommy toni tonia tony tonya
    tracey traci tracie tracy travis trent trevor tricia tristan troy tyler tyrone ursula valerie
    vanessa vera verna vernon veronica vicki vickie vicky vince vincent viola virgil vivian wallace
    walter wanda warren wayne wendell wendy wesley whitney wilbert wilbur wilfred willard william
    willie willis wilma wilson winifred winston yolanda yvette yvonne zachary zelda zoe
"""

_SURNAMES = """
    abbott acosta adams aguilar aguirre alexander allen allison alvarado alvarez anderson andrews
    armstrong arnold atkins atkinson ayala bailey baldwin ballard barker barnes barnett barrera
    barrett barron bartlett barton bauer beasley becker beltran benitez bennett benson bernard
    blackburn blackwell blair blake blankenship boone bowen bowers bowman boyd boyle bradford
    bradley brady briggs brock brooks browning bryant buchanan buckley burgess burke burnett burton
    byrd cabrera calderon caldwell calhoun callahan camacho cameron campbell campos cantu cardenas
    carey carlson carr carrillo carroll carson carter carver castaneda castillo castro cervantes
    chan chang chapman chavez chen christensen clark clarke clayton clements cline cobb cochran
    cohen coleman collier collins combs compton conley conner contreras conway cooper copeland
    cordova cortez cowan cox craig crawford crosby cruz cuevas cummings cunningham curtis dalton
    daniels daugherty davenport davidson davies davila davis dawson dejesus delacruz delarosa deleon
    delgado dennis diaz dickerson dickson dillon dixon dodson dominguez donaldson donovan dorsey
    dougherty douglas doyle dudley duffy duncan dunlap dunn duran durham dyer eaton edwards elliott
    ellis ellison erickson escobar esparza espinosa espinoza estes estrada evans everett ewing
    farley farrell faulkner ferguson fernandez ferrell figueroa finley fischer fitzgerald
    fitzpatrick fleming fletcher flores floyd flynn foley fowler francis franco franklin frazier
    frederick freeman fritz frye fuentes fuller gaines galindo gallagher gallegos galloway galvan
    garcia gardner garner garrett garrison garza george gibbs gibson gilbert giles gillespie gilmore
    glenn glover gomez gonzales gonzalez goodman goodwin gordon gould graham greene greer gregory
    griffin griffith griffiths grimes guerra guerrero gutierrez guzman hahn haley hammond hampton
    hancock hanna hansen hanson hardin harding harmon harper harrell harrington harris harrison
    hartman harvey hatfield hawkins hayden hayes haynes hebert henderson hendricks hendrix henry
    hensley henson herman hernandez herrera hess hester hewitt hickman hicks higgins hines hinton
    hobbs hodge hodges hoffman hogan holden holloway holmes holt hooper hoover hopkins horne horton
    howard howe howell hubbard huber hudson huff huffman hughes humphrey hurley hurst hutchinson
    ibarra ingram jackson jacobs jacobson james jarvis jefferson jenkins jennings jensen jimenez
    johns johnson johnston jones joseph joyce juarez kane kaufman keller kelley kelly kemp kennedy
    kent kerr khan kim kirby kirk klein kline knapp knox kramer krause krueger lambert landry larsen
    larson lawrence lawson leblanc leonard levine levy lewis lindsay lindsey liu livingston lloyd
    logan lopez lowe lowery lozano lucas lucero lugo lynch lynn lyons macdonald macias mack madden
    maddox mahoney maldonado malone manning marquez marshall martin martinez massey mathews mathis
    matthews maxwell maynard mcbride mccall mccann mccarthy mccarty mcclain mcclure mcconnell
    mccormick mccoy mccullough mcdaniel mcdonald mcdowell mcfarland mcgee mcgrath mcguire mcintosh
    mcintyre mckay mckee mckenzie mckinney mcknight mclaughlin mclean mcmahon mcmillan mcneil
    mcpherson medina mejia melendez melton mendez mendoza merritt meyer meyers meza michael
    middleton miller mitchell molina monroe montgomery montoya moody mooney moore morales moran
    moreno morgan morris morrison morrow morse morton mosley moyer mueller mullen mullins munoz
    murillo murphy murray myers navarro neal nelson newman newton nguyen nichols nicholson nielsen
    nixon nolan norman norris norton novak nunez obrien ochoa oconnell oconnor odom odonnell oliver
    olsen olson oneal oneill orozco orr ortega ortiz osborn osborne owen owens pacheco padilla
    palmer parker parrish parsons patel patrick patterson patton paul payne pearson peck pena
    pennington perez perkins perry peters petersen peterson petty pham phan phelps phillips pineda
    pittman pitts ponce potts powell pratt preston proctor pruitt quinn quintero ramirez ramos
    ramsey randall randolph rasmussen raymond reese reeves reid reilly reyes reynolds rhodes richard
    richards richardson riley rios rivas rivera robbins roberts robertson robinson robles rocha
    rodgers rodriguez rogers rojas romero rosales rosario rosas roth rowe rowland roy rubio ruiz
    russell russo ryan salas salazar salgado salinas sampson sanchez sanders sandoval sanford
    santana santiago santos saunders sawyer schaefer schmidt schmitt schneider schroeder schultz
    schwartz scott serrano shaffer shah shannon shea shelton shepard shepherd sheppard sherman silva
    simmons simon simpson sims sinclair singh singleton sloan smith snyder solis solomon sosa soto
    spears spencer stafford stanley stanton stein stephens stephenson stevens stevenson stewart
    stokes strickland stuart suarez sullivan sutton swanson sweeney tanner tapia tate taylor terrell
    terry thomas thompson thornton tran travis trejo trevino trujillo tucker tyler valdez valenzuela
    vance vang vargas vasquez vaughan vaughn vazquez velasquez velazquez velez villanueva villarreal
    villegas vincent vu wagner wallace walsh walter walters walton warner warren watkins watson
    watts webb weber weiss welch whitaker whitehead whitney wiggins wilcox wiley wilkerson wilkins
    wilkinson williams williamson willis wilson wolfe woodard woodward wright wu wyatt yang yates
    yoder yu zamora zavala zhang zimmerman zuniga
"""

# Also words or places: cut only beside another name, or after a title.
_GIVEN_WORDS = """
    amber angel antonio april art ashton august austin autumn bill brooke brooklyn candy carol
    carolina charity charlotte chase chelsea cherry chip christian chuck clay cliff colin colt
    crystal daisy dakota dale dallas dawn dean destiny dick diego don drew earl ed eden eve faith
    florence forrest francisco frank gene georgia ginger grace grant guy harmony haven heath heather
    heaven holly hope houston hunter iris israel ivy jack jade jan jasper javier jean jesus jewel jo
    jordan jose josiah joy june justice kay kitty lance landon lane laurel lee liberty lily lincoln
    london louis louise madison marina mark marlin mason max may mel melody mercedes mercy mia miles
    misty nick norm olive opal orlando paris pat paxton pearl penny pete phoenix pierce piper ray
    reed rex rich river rob robin rocky roman rose rosemary ruby rusty sage salvador sandy savannah
    serena shelby sierra skip sky skyler sonny star sterling sue summer sydney teddy trinity ty van
    victor victoria violet virginia wade ward will wm wolf woody
"""
_SURNAME_WORDS = """
    austin baker ball banks barber bass beach bean bell berry best bird bishop black blanchard bond
    booth brewer brown buck burns bush butler cain camp cannon carpenter case chambers chandler
    chase cherry christian church clay colon cook costa craft crane cross dale day dean decker dell
    downs drake english farmer field fields finch fish fisher flowers forbes ford foster fox frank
    french frost gallo gamble gates gay gentry gill glass gold golden good grant graves gray green
    grey gross guy hall hardy hart haven head heath herring hill ho holland holly hood hope house
    houston hull hunt hunter irwin ivy jordan jose judge key king kirkland knight lake lamb lane
    lang law leach lee li lin lincoln little lloyds long love low luna madison mann marks marsh
    martins mason may mays mercado mercer merrill mills montes moon mora moses moss nash nava noble
    page paris park parks pearce penn pierce pike pollard poole pope porter post potter powers price
    prince pugh rangel ray reed rice rich richmond riddle rivers rose rush rutledge savage sears
    sexton sharp shaw shepherds shields short sierra simons skinner small snow sparks stark steele
    stone strong summers swan thorn townsend turner underwood valencia valentine vega villa wade
    walker wall walls ward ware washington waters weaver webster weeks wells west wheeler white
    wilder willow winter winters wise wolf wong wood woods wren york young
"""

# What a name follows: surely, and perhaps; and what follows a title without being a name.
_TITLES = "dr mr mrs prof rev"
_POLITE = "aunt doctor frau herr lady lord madame miss ms professor sir uncle"
_NO_NAMES = "and at for from in is near of office offices on or the to who with"

GIVEN = frozenset(_GIVEN.split())
SURNAMES = frozenset(_SURNAMES.split())
GIVEN_WORDS = frozenset(_GIVEN_WORDS.split())
SURNAME_WORDS = frozenset(_SURNAME_WORDS.split())
TITLES = frozenset(_TITLES.split())
POLITE = frozenset(_POLITE.split())
NO_NAMES = frozenset(_NO_NAMES.split())
