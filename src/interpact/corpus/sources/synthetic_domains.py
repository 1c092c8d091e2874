"""The wording of the synthetic source: plain data, one entry a domain, one a topic.

Every clause can stand alone or follow "that". Slots: {who}, {expert}, {org}, {place} and {ref} name
the people and things of a document; {helper}, {record}, {date} and {n} change from text to text.
{limit} is a condition's threshold, {v}, {a} and {b} are the values that a clause reports, {these}
lists the values that a condition accepts. In a pair of clauses the second denies the first.
"""

from __future__ import annotations

from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure:
    """A topic with an amount or a date, which a condition compares with a limit."""

    label: str
    most: bool  # what one hopes for: at most the limit, or at least the limit
    show: str  # "date", or the format of a value
    grid: float = 1
    limits: range  # in grid steps; of a date, days since the document's first day
    spread: int
    asks: tuple[str, ...]
    bars: tuple[str, ...]
    exact: tuple[str, ...]
    upper: Pairs  # at most {v} / more than {v}
    lower: Pairs  # at least {v} / less than {v}
    between: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """A topic with one value out of many, of which a condition accepts one or two."""

    label: str
    values: tuple[str, ...]
    asks: tuple[str, ...]
    bars: tuple[str, ...]
    exact: Pairs  # is {v} / is not {v}
    either: Pairs  # is {a} or {b} / is neither
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class YesNo:
    """A topic that is as one hopes, or not."""

    label: str
    asks: tuple[str, ...]
    bars: tuple[str, ...]
    says: Pairs  # as one hopes / not so; each of them another fact
    reworded: Pairs  # the first facts of `says`, in other words
    others: tuple[tuple[str, bool], ...]  # other facts that settle the topic, and which way
    open: tuple[str, ...]


Topic = Measure | Choice | YesNo


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """A world with its decisions, topics, records and facts that no topic asks about."""

    name: str
    favourable: tuple[str, str]  # rule head, query
    adverse: tuple[str, str]
    reference: str
    organisations: tuple[str, ...]
    records: tuple[str, ...]
    background: tuple[str, ...]
    topics: tuple[Topic, ...]


GRAIN = Domain(
    name="grain",
    favourable=("A load of wheat is accepted at the store", "Is load {ref} to be accepted?"),
    adverse=("A load of wheat is turned away from the store", "Is load {ref} to be turned away?"),
    reference="K-{}",
    organisations=("{} Farm", "{} Growers", "{} Estate", "{} Mill Farm"),
    records=("the intake log", "the delivery sheet", "the store manager's report"),
    background=(
        "{helper} was on duty in the weighbridge office on {date}",
        "the store at {place} was repainted in the week of {date}",
        "{org} has sent wheat to the store for {n} years",
        "the lorry that brought load {ref} has a blue cab",
        "the driver asked for directions to {place} and was given a map",
        "the canteen of the store serves hot meals until {n} minutes past two",
        "load {ref} is tipped at bay {n} if it is accepted",
        "{helper} has written a history of the mill at {place}",
        "invoices to {org} are sent by post, with {n} days to pay",
        "the gate of the store was widened for longer lorries on {date}",
    ),
    topics=(
        Measure(
            label="moisture",
            most=True,
            show="{:g}%",
            grid=0.1,
            limits=range(130, 161, 5),
            spread=28,
            asks=(
                "The moisture content of load {ref} is no more than {limit}.",
                "The wheat in load {ref} holds at most {limit} moisture.",
            ),
            bars=(
                "The moisture content of load {ref} is above {limit}.",
                "The wheat in load {ref} holds more than {limit} moisture.",
            ),
            exact=(
                "the moisture content of load {ref} was measured at {v}",
                "load {ref} was found to hold {v} moisture",
                "the wheat in load {ref} was found to be {v} water",
                "measured for moisture, load {ref} came out at {v}",
            ),
            upper=(
                (
                    "the moisture content of load {ref} did not exceed {v}",
                    "the moisture content of load {ref} exceeded {v}",
                ),
                (
                    "for load {ref}, the moisture meter settled at {v} or lower",
                    "for load {ref}, the moisture meter settled at a figure higher than {v}",
                ),
                (
                    "the wheat in load {ref} was found to hold {v} moisture at the very most",
                    "the wheat in load {ref} was found to hold more than {v} moisture",
                ),
            ),
            lower=(
                (
                    "the moisture content of load {ref} came to at least {v}",
                    "the moisture content of load {ref} came to less than {v}",
                ),
                (
                    "the wheat in load {ref} was found to hold no less than {v} moisture",
                    "the wheat in load {ref} was found to hold under {v} moisture",
                ),
            ),
            between=(
                "the moisture content of load {ref} lay somewhere from {a} to {b}",
                "a worn hand meter narrows the moisture of load {ref} down only to a figure between {a} and {b}",
                "the moisture of load {ref} was put at {a} to {b}, without a closer figure",
            ),
            open=(
                "the moisture meter was out when load {ref} came in, and no reading was taken",
                "the line for moisture on the ticket of load {ref} was left blank",
                "the moisture figure on the printout for load {ref} is too faint to read",
            ),
        ),
        Measure(
            label="weight",
            most=True,
            show="{:g} tonnes",
            grid=0.1,
            limits=range(240, 301, 10),
            spread=50,
            asks=(
                "The net weight of load {ref} is no more than {limit}.",
                "Load {ref} weighs {limit} net or less.",
            ),
            bars=(
                "The net weight of load {ref} is above {limit}.",
                "Load {ref} weighs more than {limit} net.",
            ),
            exact=(
                "the net weight of load {ref} came to {v}",
                "for load {ref}, with the empty lorry taken off, the bridge showed {v} of wheat",
                "net of the lorry, load {ref} weighed {v}",
            ),
            upper=(
                (
                    "the net weight of load {ref} did not go over {v}",
                    "the net weight of load {ref} went over {v}",
                ),
                (
                    "load {ref} weighed {v} net at most",
                    "load {ref} weighed more than {v} net",
                ),
            ),
            lower=(
                (
                    "the net weight of load {ref} was not below {v}",
                    "the net weight of load {ref} was below {v}",
                ),
                ("load {ref} weighed at least {v} net", "load {ref} weighed less than {v} net"),
            ),
            between=(
                "the net weight of load {ref} was put at {a} to {b}",
                "two partial weighings show only that the net weight of load {ref} lies between {a} and {b}",
            ),
            open=(
                "the weighbridge was jammed with ice, and load {ref} was tipped unweighed",
                "the ticket of load {ref} is torn off where the net weight should be",
                "the bridge printed a gross weight for load {ref}, and the empty lorry was never weighed",
            ),
        ),
        Measure(
            label="arrival",
            most=True,
            show="date",
            limits=range(40, 200),
            spread=24,
            asks=(
                "Load {ref} reached the store no later than {limit}.",
                "Load {ref} arrived at the store on or before {limit}.",
            ),
            bars=(
                "Load {ref} reached the store after {limit}.",
                "Load {ref} arrived at the store later than {limit}.",
            ),
            exact=(
                "load {ref} reached the store on {v}",
                "the arrival of load {ref} at the store was on {v}",
                "{v} was the day on which load {ref} was driven in at the gate",
            ),
            upper=(
                (
                    "load {ref} was at the store by the evening of {v}",
                    "load {ref} was still on its way to the store at the end of {v}",
                ),
                (
                    "load {ref} came in on {v} at the latest",
                    "load {ref} came in later than {v}",
                ),
            ),
            lower=(
                (
                    "load {ref} did not reach the store before {v}",
                    "load {ref} reached the store before {v}",
                ),
                (
                    "load {ref} came in on {v} at the earliest",
                    "load {ref} came in earlier than {v}",
                ),
            ),
            between=(
                "load {ref} came in at some time from {a} to {b}",
                "the gate book narrows the arrival of load {ref} down only to the days from {a} to {b}",
            ),
            open=(
                "the gate stamp on the papers of load {ref} is smudged, and the day of arrival cannot be read",
                "nobody at the gate wrote down the day on which load {ref} came in",
            ),
        ),
        Measure(
            label="protein",
            most=False,
            show="{:g}%",
            grid=0.1,
            limits=range(105, 136, 5),
            spread=24,
            asks=(
                "The protein content of the wheat in load {ref} is at least {limit}.",
                "The wheat in load {ref} holds no less than {limit} protein.",
            ),
            bars=(
                "The protein content of the wheat in load {ref} is below {limit}.",
                "The wheat in load {ref} holds less than {limit} protein.",
            ),
            exact=(
                "load {ref} was found to hold {v} protein",
                "the protein content of load {ref} was {v}",
                "protein made up {v} of the wheat in load {ref}",
            ),
            upper=(
                (
                    "the protein content of load {ref} did not go beyond {v}",
                    "the protein content of load {ref} went beyond {v}",
                ),
                (
                    "the wheat in load {ref} had {v} protein at the most",
                    "the wheat in load {ref} had more than {v} protein",
                ),
            ),
            lower=(
                (
                    "the protein content of load {ref} reached {v} or more",
                    "the protein content of load {ref} fell short of {v}",
                ),
                (
                    "the wheat in load {ref} was not under {v} protein",
                    "the wheat in load {ref} was under {v} protein",
                ),
            ),
            between=(
                "the protein content of load {ref} lay somewhere from {a} to {b}",
                "the quick test strip puts the protein of load {ref} only within {a} to {b}",
            ),
            open=(
                "the protein sample of load {ref} was spilled before it could be analysed",
                "the analyser printed an error instead of a protein figure for load {ref}",
            ),
        ),
        Choice(
            label="variety",
            values=("Aldersey", "Brookmere", "Calden", "Dunmow", "Estover", "Fenwick", "Garton"),
            asks=(
                "The wheat in load {ref} is of the variety {these}.",
                "Load {ref} consists of wheat of the variety {these}.",
            ),
            bars=(
                "The wheat in load {ref} is of a variety other than {these}.",
                "Load {ref} consists of wheat of a variety other than {these}.",
            ),
            exact=(
                (
                    "load {ref} is wheat of the variety {v}",
                    "load {ref} is wheat of a variety other than {v}",
                ),
                (
                    "load {ref} holds {v} wheat and no other variety",
                    "load {ref} holds wheat of one variety, which is not {v}",
                ),
                (
                    "the variety of the wheat in load {ref} is {v}",
                    "the variety of the wheat in load {ref} is not {v}",
                ),
            ),
            either=(
                (
                    "the variety in load {ref} is either {a} or {b}",
                    "the variety in load {ref} is neither {a} nor {b}",
                ),
            ),
            open=(
                "the seed tag for load {ref} has been lost, and the grower does not recall the variety",
                "the box for the variety on the form of load {ref} is empty",
            ),
        ),
        Choice(
            label="parish",
            values=(
                "Ashby",
                "Barrow",
                "Coombe",
                "Denholm",
                "Elmstead",
                "Farley",
                "Grafton",
                "Hadley",
            ),
            asks=(
                "The wheat in load {ref} was grown in the parish of {these}.",
                "Load {ref} was harvested in the parish of {these}.",
            ),
            bars=(
                "The wheat in load {ref} was grown in a parish other than {these}.",
                "Load {ref} was harvested in a parish other than {these}.",
            ),
            exact=(
                (
                    "all of load {ref} was grown and cut in the parish of {v}",
                    "all of load {ref} was grown and cut in one parish, which was not {v}",
                ),
                (
                    "the one field behind load {ref} lies in the parish of {v}",
                    "the one field behind load {ref} lies in a parish other than {v}",
                ),
            ),
            either=(
                (
                    "load {ref} was cut in one field, either in the parish of {a} or in that of {b}",
                    "load {ref} was cut in one field, neither in the parish of {a} nor in that of {b}",
                ),
            ),
            open=(
                "the form for load {ref} names no parish, and {org} has fields in many",
                "the field number given for load {ref} does not exist on the parish maps",
            ),
        ),
        YesNo(
            label="insects",
            asks=(
                "No live insects are present in load {ref}.",
                "Load {ref} is free of live insects.",
            ),
            bars=("Live insects are present in load {ref}.", "Load {ref} contains live insects."),
            says=(
                (
                    "the sieve test of all of load {ref} turned up no live insects",
                    "the sieve test of all of load {ref} turned up live insects",
                ),
                (
                    "load {ref} was searched for insects of every kind, and none was alive in it",
                    "load {ref} was searched for insects of every kind, and some were alive in it",
                ),
                (
                    "load {ref} was certified clear of living insects on arrival",
                    "load {ref} was marked as infested with living insects on arrival",
                ),
                (
                    "there was nothing alive among the wheat in load {ref}",
                    "there were weevils crawling among the wheat in load {ref}",
                ),
            ),
            reworded=(
                (
                    "in the sieve test of all of load {ref}, no live insects came to light",
                    "in the sieve test of all of load {ref}, live insects came to light",
                ),
            ),
            others=(
                (
                    "every insect in load {ref} had been killed by the gas treatment before arrival",
                    True,
                ),
                ("the traps in load {ref} filled with living grain moths within the hour", False),
                ("weevils were seen moving in two corners of load {ref}", False),
            ),
            open=(
                "the sieve was broken on the day, and load {ref} was not searched for insects",
                "only the top hand's breadth of load {ref} was searched for insects, and the rest was not looked at",
                "dead beetles lay on the tarpaulin of load {ref}; the wheat itself was not searched",
            ),
        ),
        YesNo(
            label="seal",
            asks=("The seal on the lorry with load {ref} was unbroken on arrival.",),
            bars=("The seal on the lorry with load {ref} was broken or missing on arrival.",),
            says=(
                (
                    "the seal on the lorry was whole when load {ref} came in",
                    "the seal on the lorry was snapped when load {ref} came in",
                ),
                (
                    "nothing was amiss with the seal of load {ref} at the gate",
                    "the seal of load {ref} hung in two pieces at the gate",
                ),
                (
                    "the gatekeeper had to cut the seal of load {ref}, which nobody had opened before",
                    "the gatekeeper did not have to cut the seal of load {ref}, which was already open",
                ),
                (
                    "load {ref} came in with its seal intact",
                    "load {ref} came in without its seal intact",
                ),
            ),
            reworded=(
                (
                    "load {ref} had an undamaged seal on its lorry at the time it came in",
                    "load {ref} had a snapped seal on its lorry at the time it came in",
                ),
            ),
            others=(
                (
                    "load {ref} came in under the steel seal of the harbour, closed and undamaged",
                    True,
                ),
                (
                    "there was only a loop of string where the seal of load {ref} should have been",
                    False,
                ),
            ),
            open=(
                "load {ref} was tipped before anyone had looked at the seal",
                "the photograph of the lorry with load {ref} is too dark to show the state of the seal",
            ),
        ),
        YesNo(
            label="passport",
            asks=(
                "A signed grain passport came with load {ref}.",
                "Load {ref} was delivered with a grain passport that bears a signature.",
            ),
            bars=(
                "Load {ref} came without a signed grain passport.",
                "No grain passport bearing a signature was delivered with load {ref}.",
            ),
            says=(
                (
                    "the driver handed in a signed grain passport with load {ref}",
                    "the driver did not hand in a signed grain passport with load {ref}",
                ),
                (
                    "the grain passport of load {ref} was there, and the signature was not missing",
                    "the grain passport of load {ref} was there, but the signature was missing",
                ),
                (
                    "the grain passport that travelled with load {ref} had been signed by {org}",
                    "the grain passport that travelled with load {ref} had not been signed by {org} or by anyone",
                ),
            ),
            reworded=(
                (
                    "with load {ref}, the driver gave in a grain passport that was signed",
                    "with load {ref}, the driver gave in no signed grain passport",
                ),
            ),
            others=(
                (
                    "the driver of load {ref} gave in a grain passport with the thumbprint and signature of the grower",
                    True,
                ),
                ("the only paper that came with load {ref} was a fuel receipt", False),
                (
                    "load {ref} came with an unsigned draft of a passport and with nothing else",
                    False,
                ),
            ),
            open=(
                "the papers of load {ref} were put in the safe unread, and no one noted what they were",
                "the grain passport of load {ref} was there, but its last page, where a signature would be, has been mislaid at the store",
            ),
        ),
    ),
)

PERMITS = Domain(
    name="permits",
    favourable=("A lifting permit is granted", "Is a permit for lift {ref} to be granted?"),
    adverse=("A lifting permit is refused", "Is a permit for lift {ref} to be refused?"),
    reference="L-{}",
    organisations=("{} Lifting", "{} Construction", "{} & Daughters", "{} Plant Hire"),
    records=("the site diary", "the permit file", "the foreman's note"),
    background=(
        "the site office at {place} has {n} parking spaces",
        "{org} was founded by two cousins from {place}",
        "{helper} orders the sandwiches for the site meeting on {date}",
        "the new building at {place} will hold a bakery and {n} flats",
        "the door of the site hut was painted green on {date}",
        "{helper} has taken over the telephone of the site office",
        "the permit file is kept on shelf {n} of the office",
        "the architect, {helper}, lives abroad and visits once a year",
        "a coffee machine was delivered to the site hut on {date}",
        "{org} sends out its newsletter every {n} weeks",
    ),
    topics=(
        Measure(
            label="wind",
            most=True,
            show="{:g} km/h",
            limits=range(30, 51, 5),
            spread=18,
            asks=(
                "The gusts forecast for lift {ref} are no stronger than {limit}.",
                "The forecast for the hours of lift {ref} shows gusts of at most {limit}.",
            ),
            bars=(
                "The gusts forecast for lift {ref} are stronger than {limit}.",
                "The forecast for the hours of lift {ref} shows gusts above {limit}.",
            ),
            exact=(
                "the forecast gives {v} for the strongest gust during lift {ref}",
                "gusts will peak at {v} in the hours of lift {ref}, by the forecast",
                "the forecast for lift {ref} has the wind gusting to {v} and no further",
            ),
            upper=(
                (
                    "the forecast has no gust beyond {v} during lift {ref}",
                    "the forecast has gusts beyond {v} during lift {ref}",
                ),
                (
                    "gusts are forecast to stay at or under {v} while lift {ref} lasts",
                    "gusts are forecast to rise over {v} while lift {ref} lasts",
                ),
            ),
            lower=(
                (
                    "the strongest gust forecast for lift {ref} is {v} or more",
                    "the strongest gust forecast for lift {ref} is less than {v}",
                ),
                (
                    "the forecast gusts for lift {ref} peak at no less than {v}",
                    "the forecast gusts for lift {ref} peak at less than {v}",
                ),
            ),
            between=(
                "the forecast puts the strongest gust during lift {ref} anywhere from {a} to {b}",
                "the peak gust for the hours of lift {ref} is forecast only as a figure between {a} and {b}",
            ),
            open=(
                "the forecast in the file of lift {ref} is for a different day and says nothing of the right one",
                "the page of the forecast that covers gusts during lift {ref} did not print",
            ),
        ),
        Measure(
            label="experience",
            most=False,
            show="{:g} hours",
            limits=range(200, 601, 50),
            spread=130,
            asks=(
                "{who} has logged at least {limit} at the controls of a crane.",
                "The crane operator, {who}, has {limit} of logged crane work or more.",
            ),
            bars=(
                "{who} has logged less than {limit} at the controls of a crane.",
                "The crane operator, {who}, has under {limit} of logged crane work.",
            ),
            exact=(
                "the log book of {who} adds up to {v} of crane work",
                "{who} has logged {v} at the controls of a crane",
                "{v} of crane work stand in the log of {who}",
            ),
            upper=(
                (
                    "{who} has logged no more than {v} of crane work",
                    "{who} has logged more than {v} of crane work",
                ),
                (
                    "the crane work in the log of {who} comes to {v} at most",
                    "the crane work in the log of {who} comes to over {v}",
                ),
            ),
            lower=(
                (
                    "{who} has logged no less than {v} of crane work",
                    "{who} has logged less than {v} of crane work",
                ),
                (
                    "the log of {who} has reached {v} of crane work",
                    "the log of {who} has not reached {v} of crane work",
                ),
            ),
            between=(
                "{who} has logged somewhere from {a} to {b} of crane work",
                "part of the log of {who} is in pencil, so that the crane work can only be put between {a} and {b}",
            ),
            open=(
                "the log book of {who} was left in a taxi, and the hours of crane work are not on file",
                "{who} wrote 'see log' in the box for hours, but no log is attached",
            ),
        ),
        Measure(
            label="load",
            most=True,
            show="{:,.0f} kg",
            grid=10,
            limits=range(80, 301, 10),
            spread=45,
            asks=(
                "The load of lift {ref} is no heavier than {limit}.",
                "The load of lift {ref} has a mass of at most {limit}.",
            ),
            bars=(
                "The load of lift {ref} is heavier than {limit}.",
                "The load of lift {ref} has a mass above {limit}.",
            ),
            exact=(
                "the load of lift {ref} was weighed at {v}",
                "the crane of lift {ref} will have a load of {v} to lift",
                "the load of lift {ref} has a mass of {v}",
            ),
            upper=(
                (
                    "the load of lift {ref} does not exceed {v}",
                    "the load of lift {ref} exceeds {v}",
                ),
                (
                    "the load of lift {ref} weighs {v} at the outside",
                    "the load of lift {ref} weighs more than {v}",
                ),
            ),
            lower=(
                (
                    "the load of lift {ref} weighs {v} or more",
                    "the load of lift {ref} weighs less than {v}",
                ),
                (
                    "the load of lift {ref} is no lighter than {v}",
                    "the load of lift {ref} is lighter than {v}",
                ),
            ),
            between=(
                "the load of lift {ref} is put at {a} to {b}",
                "for the load of lift {ref}, the drawings allow only a figure between {a} and {b}",
            ),
            open=(
                "the lifting plan leaves the mass of the load of lift {ref} to be filled in",
                "the maker's plate with the mass of the load of lift {ref} has been painted over",
            ),
        ),
        Measure(
            label="inspection",
            most=False,
            show="date",
            limits=range(40, 200),
            spread=30,
            asks=(
                "The crane was last inspected on or after {limit}.",
                "The last inspection of the crane of lift {ref} took place no earlier than {limit}.",
            ),
            bars=(
                "The crane was last inspected before {limit}.",
                "The last inspection of the crane of lift {ref} took place earlier than {limit}.",
            ),
            exact=(
                "the crane of lift {ref} was last inspected on {v}",
                "the last inspection of the crane of lift {ref} was on {v}",
                "{v} is when the crane of lift {ref} had its most recent inspection",
            ),
            upper=(
                (
                    "the crane of lift {ref} has not been inspected since {v}, and its last inspection was on or before that day",
                    "the crane of lift {ref} has been inspected since {v}",
                ),
                (
                    "the last inspection of the crane of lift {ref} took place on {v} at the latest",
                    "the last inspection of the crane of lift {ref} took place later than {v}",
                ),
            ),
            lower=(
                (
                    "the last inspection of the crane of lift {ref} took place on {v} or later",
                    "the last inspection of the crane of lift {ref} took place earlier than {v}",
                ),
                (
                    "the crane of lift {ref} was last inspected no earlier than {v}",
                    "the crane of lift {ref} was last inspected before {v}",
                ),
            ),
            between=(
                "the crane of lift {ref} was last inspected at some time from {a} to {b}",
                "the stamp for the last inspection of the crane of lift {ref} can only be dated between {a} and {b}",
            ),
            open=(
                "the inspection sheet of the crane of lift {ref} is on file, but its date is under a coffee stain",
                "the hire firm has been asked for the date of the last inspection of the crane of lift {ref} and has not answered",
            ),
        ),
        Choice(
            label="machine",
            values=("tower crane", "mobile crane", "crawler crane", "loader crane", "gantry crane"),
            asks=(
                "The machine to be used is a {these}.",
                "Lift {ref} is to be done with a {these}.",
            ),
            bars=(
                "The machine to be used is something other than a {these}.",
                "Lift {ref} is to be done with a machine other than a {these}.",
            ),
            exact=(
                (
                    "lift {ref} will be done with a {v}",
                    "lift {ref} will not be done with a {v} but with another machine",
                ),
                (
                    "the machine booked for lift {ref} is a {v}",
                    "the machine booked for lift {ref} is not a {v}",
                ),
                (
                    "{org} will use one machine for lift {ref}, a {v}",
                    "{org} will use one machine for lift {ref}, and not a {v}",
                ),
            ),
            either=(
                (
                    "the machine for lift {ref} will be either a {a} or a {b}",
                    "the machine for lift {ref} will be neither a {a} nor a {b}",
                ),
            ),
            open=(
                "the application does not say what kind of machine will do lift {ref}",
                "the kind of machine for lift {ref} is given only as a model number that no list contains",
            ),
        ),
        Choice(
            label="shift",
            values=("early", "late", "night", "weekend"),
            asks=(
                "Lift {ref} takes place in the {these} shift.",
                "Lift {ref} is planned for the {these} shift.",
            ),
            bars=(
                "Lift {ref} takes place in a shift other than the {these} shift.",
                "Lift {ref} is planned for a shift other than the {these} shift.",
            ),
            exact=(
                (
                    "lift {ref} is set for the {v} shift",
                    "lift {ref} is set for a shift other than the {v} shift",
                ),
                (
                    "all of lift {ref} will be carried out by the {v} shift",
                    "all of lift {ref} will be carried out by a shift other than the {v} shift",
                ),
            ),
            either=(
                (
                    "lift {ref} will fall into one shift, the {a} shift or the {b} shift",
                    "lift {ref} will fall into one shift, but not the {a} shift nor the {b} shift",
                ),
            ),
            open=(
                "the roster for the week of lift {ref} is not out, and the shift is still to be set",
                "the line for the shift of lift {ref} on the application reads 'to follow'",
            ),
        ),
        YesNo(
            label="ground",
            asks=(
                "An engineer has signed off a survey of the ground under the crane of lift {ref}.",
                "A ground survey for the crane of lift {ref} has been signed off by an engineer.",
            ),
            bars=(
                "No engineer has signed off a survey of the ground under the crane of lift {ref}.",
                "A ground survey for the crane of lift {ref} has not been signed off by any engineer.",
            ),
            says=(
                (
                    "an engineer has signed off the ground survey for lift {ref}",
                    "the ground survey for the crane of lift {ref} still lacks the sign-off of an engineer",
                ),
                (
                    "the ground survey for lift {ref} did not go without an engineer's signature for long, and it has one now",
                    "the ground survey for lift {ref} has gone without an engineer's signature to this day",
                ),
                (
                    "the survey of the ground under the crane of lift {ref} was done and passed by an engineer",
                    "the survey of the ground under the crane of lift {ref} was never done, by an engineer or by anyone else",
                ),
            ),
            reworded=(
                (
                    "the ground survey for the crane of lift {ref} has the sign-off of an engineer",
                    "the ground survey for the crane of lift {ref} has not been signed off by an engineer",
                ),
            ),
            others=(
                (
                    "the survey of the ground for lift {ref} bears the signature of {expert}, a chartered engineer who passed it",
                    True,
                ),
                (
                    "the ground survey for lift {ref} was sent back by the only engineer who saw it, who would not sign",
                    False,
                ),
                (
                    "a farmer nearby called the ground under the crane of lift {ref} firm, and nobody else has ever looked at it",
                    False,
                ),
            ),
            open=(
                "the ground survey for lift {ref} was posted to an engineer, and whether it was signed off is not known on site",
                "a ground survey for lift {ref} is on file with a signature, but nothing tells whether the signer is an engineer",
            ),
        ),
        YesNo(
            label="fence",
            asks=(
                "The whole drop zone is fenced off.",
                "A fence closes off the drop zone of lift {ref} on every side.",
            ),
            bars=(
                "Some part of the drop zone of lift {ref} is not fenced off.",
                "The edge of the drop zone of lift {ref} is not fenced all along.",
            ),
            says=(
                (
                    "the drop zone of lift {ref} is fenced all the way round",
                    "the drop zone of lift {ref} is fenced on three sides and open on the fourth",
                ),
                (
                    "around the drop zone of lift {ref} there is no gap in the fence",
                    "around the drop zone of lift {ref} there is a gap in the fence",
                ),
                (
                    "nobody can walk into the drop zone of lift {ref} without climbing the fence",
                    "anybody can walk into the drop zone of lift {ref} without climbing the fence",
                ),
                (
                    "the last open side of the drop zone of lift {ref} has been fenced",
                    "the last open side of the drop zone of lift {ref} has yet to be fenced",
                ),
            ),
            reworded=(
                (
                    "all sides of the drop zone of lift {ref} are fenced",
                    "three sides of the drop zone of lift {ref} are fenced, and the fourth is open",
                ),
            ),
            others=(
                (
                    "the drop zone of lift {ref} lies inside a closed ring of locked mesh fence",
                    True,
                ),
                (
                    "only tape on short poles marks the drop zone of lift {ref}, and no fence stands there",
                    False,
                ),
            ),
            open=(
                "fence panels were delivered for the drop zone of lift {ref}, and the file does not say whether they were put up",
                "the photograph shows a fence on the near side of the drop zone of lift {ref}, and the other sides are out of view",
            ),
        ),
        YesNo(
            label="power line",
            asks=(
                "No live power line lies within reach of the jib of lift {ref}.",
                "The jib cannot reach any live power line.",
            ),
            bars=(
                "A live power line lies within reach of the jib of lift {ref}.",
                "The jib can reach a live power line.",
            ),
            says=(
                (
                    "every power line within reach of the jib of lift {ref} has been switched off",
                    "a power line within reach of the jib of lift {ref} has been left on",
                ),
                (
                    "there are no live power lines anywhere the jib of lift {ref} can reach",
                    "there are live power lines where the jib of lift {ref} can reach",
                ),
                (
                    "the jib of lift {ref} is well out of reach of the nearest live power line",
                    "the jib of lift {ref} is not out of reach of the nearest live power line",
                ),
            ),
            reworded=(
                (
                    "the power lines that the jib of lift {ref} can reach are all switched off",
                    "one of the power lines that the jib of lift {ref} can reach is still switched on",
                ),
            ),
            others=(
                (
                    "all the power lines near the crane of lift {ref} were taken down years ago, and none has been put up since",
                    True,
                ),
                (
                    "the jib of lift {ref} would pass an arm's length from a live power line to the bakery",
                    False,
                ),
            ),
            open=(
                "a power line crosses the reach of the jib of lift {ref}, and whether it is live has yet to be found out",
                "the plan of the power lines around the crane of lift {ref} is missing from the file, and nobody has looked",
            ),
        ),
    ),
)

LIBRARY = Domain(
    name="library",
    favourable=(
        "A reader's card for the archive is issued",
        "Is reader's card {ref} to be issued?",
    ),
    adverse=(
        "A reader's card for the archive is withheld",
        "Is reader's card {ref} to be withheld?",
    ),
    reference="R{}",
    organisations=("{} Library", "{} Archive", "{} Reading Rooms", "{} Record Office"),
    records=("the reader's file", "the desk book", "the librarian's memo"),
    background=(
        "the reading room of {org} has {n} desks by the window",
        "{helper} restored the clock above the desk on {date}",
        "the cloakroom at {org} takes coats but no bicycles",
        "{helper} gave a talk about old maps of {place} on {date}",
        "the archive bought {n} new lamps this spring",
        "the lift at {org} stops between two floors on damp days",
        "the catalogue of {org} is being moved to a new computer",
        "the tea room next to the archive closes {n} minutes before the desk",
        "{helper} painted the portrait that hangs on the stairs of {org}",
        "a school class from {place} visited the map room on {date}",
    ),
    topics=(
        Measure(
            label="fines",
            most=True,
            show="£{:,.2f}",
            grid=0.5,
            limits=range(30, 91, 10),
            spread=24,
            asks=(
                "{who} owes the library no more than {limit} in fines.",
                "The unpaid fines of {who} add up to {limit} at most.",
            ),
            bars=(
                "{who} owes the library more than {limit} in fines.",
                "The unpaid fines of {who} add up to more than {limit}.",
            ),
            exact=(
                "{who} owes {v} in fines",
                "the unpaid fines of {who} add up to {v}",
                "a total of {v} is outstanding in fines on the account of {who}",
            ),
            upper=(
                (
                    "the unpaid fines of {who} do not exceed {v}",
                    "the unpaid fines of {who} exceed {v}",
                ),
                ("{who} owes {v} in fines at the most", "{who} owes more than {v} in fines"),
            ),
            lower=(
                ("{who} owes at least {v} in fines", "{who} owes less than {v} in fines"),
                (
                    "the unpaid fines of {who} have reached {v}",
                    "the unpaid fines of {who} have not reached {v}",
                ),
            ),
            between=(
                "{who} owes anything from {a} to {b} in fines",
                "the two ledgers allow only a figure between {a} and {b} for the unpaid fines of {who}",
            ),
            open=(
                "the fines ledger was away at the binder's, and the balance of {who} was not looked up",
                "{who} left the question about unpaid fines unanswered, and the desk did not check",
            ),
        ),
        Measure(
            label="loans",
            most=True,
            show="{:g} books",
            limits=range(9, 21),
            spread=6,
            asks=(
                "{who} has no more than {limit} out on loan.",
                "At most {limit} are out on loan to {who}.",
            ),
            bars=(
                "{who} has more than {limit} out on loan.",
                "Over {limit} are out on loan to {who}.",
            ),
            exact=(
                "{who} has {v} out on loan",
                "{v} are out on loan to {who}",
                "the loan list of {who} stands at {v}",
            ),
            upper=(
                (
                    "{who} does not have more than {v} out on loan",
                    "{who} has more than {v} out on loan",
                ),
                (
                    "the loan list of {who} stops at {v} or fewer",
                    "the loan list of {who} runs past {v}",
                ),
            ),
            lower=(
                ("{who} has at least {v} out on loan", "{who} has fewer than {v} out on loan"),
                (
                    "no fewer than {v} are out on loan to {who}",
                    "fewer than {v} are out on loan to {who}",
                ),
            ),
            between=(
                "{who} has between {a} and {b} out on loan, counting both ends",
                "some slips are illegible, so that the loans of {who} are known only to be from {a} to {b}",
            ),
            open=(
                "the loan computer was down, and the number of books out to {who} was not found",
                "{who} has books at home, but nobody has counted how many of them are on loan",
            ),
        ),
        Measure(
            label="application date",
            most=True,
            show="date",
            limits=range(40, 200),
            spread=21,
            asks=(
                "The application of {who} was received no later than {limit}.",
                "The library received the application of {who} on or before {limit}.",
            ),
            bars=(
                "The application of {who} was received after {limit}.",
                "The library received the application of {who} later than {limit}.",
            ),
            exact=(
                "the application of {who} was received on {v}",
                "the application of {who} carries the receipt stamp of {v}",
                "{v} was the day on which the library received the application of {who}",
            ),
            upper=(
                (
                    "the library had received the application of {who} by the close of {v}",
                    "the library had not received the application of {who} by the close of {v}, but it came in later",
                ),
                (
                    "the application of {who} was received on {v} at the latest",
                    "the application of {who} was received later than {v}",
                ),
            ),
            lower=(
                (
                    "the application of {who} was received no earlier than {v}",
                    "the application of {who} was received before {v}",
                ),
                (
                    "the application of {who} came in on {v} or on a later day",
                    "the application of {who} came in ahead of {v}",
                ),
            ),
            between=(
                "the application of {who} came in at some time from {a} to {b}",
                "the application of {who} was received between {a} and {b}, both days included",
            ),
            open=(
                "the application of {who} has no receipt stamp, and nobody recalls when it came in",
                "the receipt stamp on the application of {who} shows a day but neither month nor year",
            ),
        ),
        Measure(
            label="age",
            most=False,
            show="{:g} years",
            limits=range(16, 26),
            spread=6,
            asks=("{who} is at least {limit} old.", "{who} has reached the age of {limit}."),
            bars=("{who} is less than {limit} old.", "{who} is younger than {limit}."),
            exact=(
                "{who} is {v} old",
                "the age of {who} is {v}",
                "{who} has an age of {v}",
            ),
            upper=(),  # "over 17 years" may mean a day over
            lower=(
                ("{who} is at least {v} old", "{who} is less than {v} old"),
                ("{who} is no younger than {v}", "{who} is younger than {v}"),
                ("{who} has reached the age of {v}", "{who} has yet to reach the age of {v}"),
            ),
            between=(
                "{who} is somewhere from {a} to {b} old",
                "the age of {who} can only be placed between {a} and {b}",
            ),
            open=(
                "{who} showed a pass without a date of birth, and the age was not asked",
                "the year of birth on the form of {who} is crossed out, with nothing written in its place",
            ),
        ),
        Choice(
            label="district",
            values=(
                "Northfield",
                "Eastgate",
                "Southmoor",
                "Westbrook",
                "Millbank",
                "Castle Hill",
                "Harbourside",
            ),
            asks=("{who} lives in the district of {these}.", "The home of {who} is in {these}."),
            bars=(
                "{who} lives in a district other than {these}.",
                "The home of {who} is in a district other than {these}.",
            ),
            exact=(
                ("{who} lives in {v}", "{who} lives somewhere other than {v}"),
                ("the only address of {who} is in {v}", "the only address of {who} is not in {v}"),
                (
                    "{who} has a home in {v} and in no other district",
                    "{who} has a home in one district, and it is not {v}",
                ),
            ),
            either=(
                (
                    "{who} has one home, in {a} or in {b}",
                    "{who} has one home, in neither {a} nor {b}",
                ),
            ),
            open=(
                "{who} gave a post office box instead of a home address",
                "the letter that {who} brought as proof of address has the address cut out",
            ),
        ),
        Choice(
            label="reader group",
            values=(
                "student",
                "teacher",
                "journalist",
                "local historian",
                "family researcher",
                "publisher",
            ),
            asks=(
                "{who} is registered in the reader group {these}.",
                "The registration of {who} is in the reader group {these}.",
            ),
            bars=(
                "{who} is registered in a reader group other than {these}.",
                "The registration of {who} is in a reader group other than {these}.",
            ),
            exact=(
                (
                    "{who} is registered in the reader group {v}",
                    "{who} is registered in a reader group, but not as {v}",
                ),
                (
                    "the one reader group ticked for {who} is {v}",
                    "the one reader group ticked for {who} is not {v}",
                ),
                (
                    "the desk entered {who} under the heading '{v}'",
                    "the desk entered {who} under a heading other than '{v}'",
                ),
            ),
            either=(
                (
                    "{who} is registered in one reader group, either {a} or {b}",
                    "{who} is registered in one reader group, neither {a} nor {b}",
                ),
            ),
            open=(
                "the page with the reader group of {who} was not copied into the file",
                "{who} is registered, but the code for the reader group is one that nobody at the desk knows",
            ),
        ),
        YesNo(
            label="referee",
            asks=(
                "A letter from a referee supports the application of {who}.",
                "A referee has written in support of {who}.",
            ),
            bars=(
                "No letter from a referee supports the application of {who}.",
                "No referee has written in support of {who}.",
            ),
            says=(
                (
                    "a referee has written a letter that supports {who}",
                    "no referee has written any letter for {who}",
                ),
                (
                    "{who} did not apply without the backing of a referee, whose letter is on file",
                    "{who} applied without the backing of any referee, and none has written since",
                ),
                (
                    "the letter from the referee of {who} came in, and it is favourable",
                    "the letter from the one referee of {who} came in, and it is unfavourable",
                ),
            ),
            reworded=(
                (
                    "{who} has the support of a referee in the form of a letter",
                    "for {who}, there is no letter from any referee",
                ),
            ),
            others=(
                (
                    "Professor {expert} wrote as referee that the archive should by all means admit {who}",
                    True,
                ),
                (
                    "the only referee that {who} named wrote back with a warning against {who}",
                    False,
                ),
                (
                    "the referee that {who} relied on refused to write, and no other was found",
                    False,
                ),
            ),
            open=(
                "an envelope from the referee of {who} has arrived but has not been opened",
                "a referee's letter lies in the file of {who}, but the name of the reader it supports is illegible",
            ),
        ),
        YesNo(
            label="damage",
            asks=(
                "{who} has never damaged an item of the archive.",
                "No item of the archive has been damaged by {who}.",
            ),
            bars=(
                "{who} has damaged at least one item of the archive.",
                "An item of the archive has been damaged by {who}.",
            ),
            says=(
                (
                    "{who} has returned every item without a scratch, and has no damage to answer for",
                    "{who} has returned an item torn, and has that damage to answer for",
                ),
                (
                    "not once has {who} damaged anything that belongs to the archive",
                    "more than once has {who} damaged something that belongs to the archive",
                ),
                (
                    "the complete damage register holds nothing against {who}",
                    "the complete damage register holds an entry against {who} that was proved",
                ),
            ),
            reworded=(
                (
                    "whatever {who} returned was without a scratch, so that there is no damage to answer for",
                    "one item that {who} returned was torn, and there is that damage to answer for",
                ),
            ),
            others=(
                ("{who} has never had any item of the archive in hand up to now", True),
                ("{who} spilled ink on a parish map of the archive and paid for the repair", False),
                (
                    "the torn atlas once blamed on {who} was torn by someone else, and there was no other incident",
                    True,
                ),
            ),
            open=(
                "a charter came back torn from a table that {who} shared with others, and who tore it is not known",
                "the damage register that covers the years of {who} at the archive has not been found",
            ),
        ),
        YesNo(
            label="identity",
            asks=(
                "{who} has shown valid photo identification.",
                "A valid identity document with a photograph was shown by {who}.",
            ),
            bars=(
                "{who} has not shown valid photo identification.",
                "No valid identity document with a photograph was shown by {who}.",
            ),
            says=(
                (
                    "{who} showed a passport with a photograph, and it had not expired",
                    "{who} showed a passport with a photograph, but it had expired, and nothing else",
                ),
                (
                    "{who} did not forget to bring and show valid photo identification",
                    "{who} forgot to bring any photo identification and has shown none since",
                ),
                (
                    "the desk has seen valid photo identification from {who}",
                    "the desk has yet to see valid photo identification from {who}",
                ),
            ),
            reworded=(
                (
                    "the photo passport that {who} showed was still valid",
                    "the photo passport that {who} showed, and no other paper was shown, was past its date",
                ),
            ),
            others=(
                ("{who} showed a driving licence with a photograph, good for years to come", True),
                ("all that {who} showed was a gas bill without a photograph", False),
            ),
            open=(
                "{who} showed a photo card, but the clerk did not look whether it was still valid",
                "the note on what {who} showed at the desk was shredded by mistake",
            ),
        ),
    ),
)

DRIVERS = Domain(
    name="drivers",
    favourable=(
        "A volunteer is approved to drive the community bus",
        "Is volunteer {ref} to be approved as a driver?",
    ),
    adverse=(
        "A volunteer is turned down as a driver of the community bus",
        "Is volunteer {ref} to be turned down as a driver?",
    ),
    reference="V-{}",
    organisations=("{} Community Transport", "{} Lift Share", "{} Good Neighbours", "{} Bus Trust"),
    records=("the volunteer's file", "the coordinator's note", "the minute book"),
    background=(
        "the community bus has {n} seats and a ramp at the back",
        "{org} holds its summer party at {place} on {date}",
        "{helper} washes the bus every other week",
        "{helper} designed the yellow badge of {org}",
        "the bus stops at the market in {place} for {n} minutes",
        "a new radio was fitted to the bus on {date}",
        "{org} is looking for someone to play the piano at its party",
        "the bus was named after a former mayor of {place}",
        "the office of {org} keeps {n} spare umbrellas for passengers",
        "{helper} collects old postcards of buses",
    ),
    topics=(
        Measure(
            label="penalty points",
            most=True,
            show="{:g} penalty points",
            limits=range(6, 11),
            spread=4,
            asks=(
                "{who} has no more than {limit} on the licence.",
                "The licence of {who} carries at most {limit}.",
            ),
            bars=(
                "{who} has more than {limit} on the licence.",
                "The licence of {who} carries over {limit}.",
            ),
            exact=(
                "{who} has {v} on the licence",
                "the licence of {who} carries {v}",
                "{v} stand against {who} in the licence register",
            ),
            upper=(
                (
                    "the licence of {who} carries {v} at most",
                    "the licence of {who} carries more than {v}",
                ),
                (
                    "{who} has not gone beyond {v}",
                    "{who} has gone beyond {v}",
                ),
            ),
            lower=(
                ("{who} has at least {v}", "{who} has fewer than {v}"),
                (
                    "{who} has collected {v} or more that still count",
                    "{who} has collected fewer than {v} that still count",
                ),
            ),
            between=(
                "{who} has from {a} to {b} on the licence",
                "the licence of {who} carries somewhere between {a} and {b}",
            ),
            open=(
                "the licence register did not answer the request for the penalty points of {who}",
                "{who} mentioned some penalty points but not how many",
            ),
        ),
        Measure(
            label="driving experience",
            most=False,
            show="{:g} months",
            limits=range(24, 61, 6),
            spread=18,
            asks=(
                "{who} has held a full driving licence for at least {limit}.",
                "{who} has had a full driving licence for {limit} or longer.",
            ),
            bars=(
                "{who} has held a full driving licence for less than {limit}.",
                "{who} has had a full driving licence for under {limit}.",
            ),
            exact=(
                "{who} has held a full driving licence for {v}",
                "the full driving licence of {who} is {v} old",
                "it is {v} since {who} was given a full driving licence",
            ),
            upper=(
                (
                    "{who} has held a full driving licence for {v} at most",
                    "{who} has held a full driving licence for more than {v}",
                ),
                (
                    "{who} has not been a fully licensed driver for longer than {v}",
                    "{who} has been a fully licensed driver for longer than {v}",
                ),
            ),
            lower=(
                (
                    "{who} has held a full driving licence for {v} or more",
                    "{who} has held a full driving licence for less than {v}",
                ),
                (
                    "the full driving licence of {who} goes back at least {v}",
                    "the full driving licence of {who} does not go back {v}",
                ),
            ),
            between=(
                "{who} has held a full driving licence for a time from {a} to {b}",
                "{who} has had a full driving licence for somewhere between {a} and {b}",
            ),
            open=(
                "{who} holds a full driving licence, but the date of issue is hidden in the photocopy",
                "how long {who} has held a full driving licence was asked by post, and no reply has come",
            ),
        ),
        Measure(
            label="medical",
            most=False,
            show="date",
            limits=range(40, 200),
            spread=30,
            asks=(
                "The last medical check of {who} took place on or after {limit}.",
                "{who} last had a medical check no earlier than {limit}.",
            ),
            bars=(
                "The last medical check of {who} took place before {limit}.",
                "{who} last had a medical check earlier than {limit}.",
            ),
            exact=(
                "{who} last had a medical check on {v}",
                "{v} was the day of the last medical check of {who}",
                "the most recent medical check of {who} took place on {v}",
            ),
            upper=(
                (
                    "the last medical check of {who} took place on {v} at the latest",
                    "the last medical check of {who} took place after {v}",
                ),
                (
                    "{who} has had no medical check since {v}, and the last one was on or before that day",
                    "{who} has had a medical check since {v}",
                ),
            ),
            lower=(
                (
                    "the last medical check of {who} took place on {v} or later",
                    "the last medical check of {who} took place earlier than {v}",
                ),
                (
                    "{who} last had a medical check no earlier than {v}",
                    "{who} last had a medical check before {v}",
                ),
            ),
            between=(
                "{who} last had a medical check at some time from {a} to {b}",
                "the doctor was in practice only between {a} and {b}, and the last medical check of {who} falls in that time",
            ),
            open=(
                "the surgery confirms a medical check of {who} but leaves the date of the last one blank",
                "the medical form of {who} got wet, and the date of the check cannot be made out",
            ),
        ),
        Measure(
            label="availability",
            most=False,
            show="{:g} hours",
            limits=range(10, 25, 2),
            spread=7,
            asks=(
                "{who} can drive for at least {limit} a month.",
                "{who} is free to drive for {limit} a month or more.",
            ),
            bars=(
                "{who} can drive for less than {limit} a month.",
                "{who} is free to drive for under {limit} a month.",
            ),
            exact=(
                "{who} can drive for {v} a month and not longer",
                "{who} offers {v} of driving a month in all",
                "the monthly driving time that {who} can give is {v}",
            ),
            upper=(
                (
                    "{who} can drive for no more than {v} a month",
                    "{who} can drive for more than {v} a month",
                ),
            ),
            lower=(
                (
                    "{who} can give {v} of driving a month or more",
                    "{who} can give less than {v} of driving a month",
                ),
                (
                    "the monthly driving time that {who} can give does not fall below {v}",
                    "the monthly driving time that {who} can give falls below {v}",
                ),
            ),
            between=(
                "the monthly driving time that {who} can give is some figure from {a} to {b}",
                "{who} can drive for a total that lies between {a} and {b} a month",
            ),
            open=(
                "{who} is willing to drive, but how many hours a month was not discussed",
                "{who} answered the question about hours a month with 'as the garden allows'",
            ),
        ),
        Choice(
            label="licence issuer",
            values=("Ireland", "Norway", "Malta", "Cyprus", "Iceland", "Portugal", "Estonia"),
            asks=(
                "The driving licence of {who} was issued in {these}.",
                "{who} drives on a licence issued in {these}.",
            ),
            bars=(
                "The driving licence of {who} was issued in a country other than {these}.",
                "{who} drives on a licence issued in a country other than {these}.",
            ),
            exact=(
                (
                    "the driving licence of {who} was issued in {v}",
                    "the driving licence of {who} was not issued in {v} but in another country",
                ),
                (
                    "{who} got the licence from the authorities of {v}",
                    "{who} got the licence from the authorities of a country other than {v}",
                ),
                (
                    "the only licence that {who} holds names {v} as the issuing country",
                    "the only licence that {who} holds does not name {v} as the issuing country",
                ),
            ),
            either=(
                (
                    "the one licence of {who} was issued either in {a} or in {b}",
                    "the one licence of {who} was issued neither in {a} nor in {b}",
                ),
            ),
            open=(
                "the photocopy of the licence of {who} cuts off the name of the issuing country",
                "{who} said that the licence was issued abroad, and the country was not noted",
            ),
        ),
        Choice(
            label="home village",
            values=(
                "Little Marsh",
                "Upper Dean",
                "Stonebridge",
                "Fernhill",
                "Oakley",
                "Thornby",
                "Wickham",
            ),
            asks=(
                "{who} lives in the village of {these}.",
                "The home of {who} is in the village of {these}.",
            ),
            bars=(
                "{who} lives in a village other than {these}.",
                "The home of {who} is in a village other than {these}.",
            ),
            exact=(
                (
                    "{who} lives in the village of {v}",
                    "{who} lives in a village, though not in {v}",
                ),
                (
                    "the one home of {who} is in {v}",
                    "the one home of {who} is in a village other than {v}",
                ),
                (
                    "the village where {who} lives is {v}",
                    "the village where {who} lives is not {v}",
                ),
            ),
            either=(
                (
                    "{who} lives in one of two villages, {a} or {b}",
                    "{who} lives in a village which is neither {a} nor {b}",
                ),
            ),
            open=(
                "{who} is about to move, and neither the old nor the new village was written down",
                "the home address of {who} was left out of the form",
            ),
        ),
        YesNo(
            label="first aid",
            asks=(
                "{who} has passed the first-aid course.",
                "The first-aid course has been passed by {who}.",
            ),
            bars=(
                "{who} has not passed the first-aid course.",
                "The first-aid course has yet to be passed by {who}.",
            ),
            says=(
                (
                    "{who} passed the first-aid course",
                    "{who} failed the first-aid course and has not repeated it",
                ),
                (
                    "{who} sat the first-aid test without failing it",
                    "{who} has never sat the first-aid test",
                ),
                (
                    "the trainer's list, complete and up to date, has {who} among those who passed the first-aid course",
                    "the trainer's list, complete and up to date, does not have {who} among those who passed the first-aid course",
                ),
                (
                    "the trainer gave {who} a pass in first aid",
                    "the trainer denied {who} a pass in first aid",
                ),
            ),
            reworded=(
                (
                    "the first-aid course ended in a pass for {who}",
                    "the first-aid course ended in a failure for {who}, and {who} has not repeated it",
                ),
            ),
            others=(
                ("{who} passed the first-aid course at the top of the class", True),
                (
                    "{who} signed up for the first-aid course but dropped out on the first morning and has not been back",
                    False,
                ),
                (
                    "{who} is still on the waiting list for a first place in the first-aid course",
                    False,
                ),
            ),
            open=(
                "{who} attended the first-aid course, and the results are not out",
                "the list of those who passed the first-aid course has a tear where the name of {who} might have been",
            ),
        ),
        YesNo(
            label="driving ban",
            asks=(
                "{who} has never been banned from driving.",
                "No driving ban has ever been imposed on {who}.",
            ),
            bars=(
                "{who} has been banned from driving at some time.",
                "A driving ban has been imposed on {who} at some time.",
            ),
            says=(
                (
                    "no court has ever banned {who} from driving",
                    "a court once banned {who} from driving",
                ),
                (
                    "{who} has been free of driving bans for a whole lifetime",
                    "{who} has been free of driving bans except for one, which has been served",
                ),
                (
                    "the full record of {who} holds no ban from driving",
                    "the full record of {who} holds a ban from driving",
                ),
            ),
            reworded=(
                (
                    "{who} has at no time been banned from driving by a court",
                    "{who} has at one time been banned from driving by a court",
                ),
            ),
            others=(
                (
                    "the driving ban once reported for {who} concerned a namesake, and {who} never had one",
                    True,
                ),
                (
                    "{who} spent a year on foot after a court took the licence away for speeding",
                    False,
                ),
            ),
            open=(
                "the court files for the years in which {who} lived abroad have not come, and a ban there can be neither shown nor ruled out",
                "{who} did not answer the question about driving bans, and the record has not been asked for",
            ),
        ),
        YesNo(
            label="test drive",
            asks=(
                "{who} has passed the test drive in the bus.",
                "The examiner has passed {who} in the test drive with the bus.",
            ),
            bars=(
                "{who} has not passed the test drive in the bus.",
                "The examiner has not passed {who} in the test drive with the bus.",
            ),
            says=(
                (
                    "{who} passed the test drive in the bus",
                    "{who} did not pass the test drive in the bus",
                ),
                (
                    "the examiner found no fault that would stop {who} from passing, and passed {who} in the test drive",
                    "the examiner found a fault that stopped {who} from passing, and failed {who} in the test drive",
                ),
                (
                    "the test drive of {who} in the bus ended in a pass",
                    "the test drive of {who} in the bus has yet to take place",
                ),
            ),
            reworded=(
                (
                    "in the test drive with the bus, {who} was passed",
                    "in the test drive with the bus, {who} was not passed",
                ),
            ),
            others=(
                ("{who} passed the bus test drive at the second go, after a failure", True),
                (
                    "{who} hit a bollard in the only test drive in the bus and was failed on the spot",
                    False,
                ),
            ),
            open=(
                "{who} has taken the test drive in the bus, and the examiner has not handed in the result",
                "the sheet of the test drive of {who} bears two boxes, pass and fail, and both are ticked",
            ),
        ),
    ),
)

BOOTHS = Domain(
    name="booths",
    favourable=("A booth at the street fair is confirmed", "Is booking {ref} to be confirmed?"),
    adverse=("A booth at the street fair is declined", "Is booking {ref} to be declined?"),
    reference="B{}",
    organisations=("{} Market Traders", "{} Makers", "The {} Stall", "{} & Friends"),
    records=("the booking sheet", "the fair's inbox", "the organiser's notebook"),
    background=(
        "the brass band of {place} plays on the steps of the town hall",
        "{helper} drew the poster for the fair on {date}",
        "the fair at {place} began {n} years ago as a flower show",
        "{helper} will judge the contest for the longest carrot",
        "the mayor of {place} opens the fair and leaves after {n} minutes",
        "the town has ordered {n} more benches for the market square",
        "the bus to {place} does not stop in the square during the fair",
        "{helper} is in charge of the lost children's tent",
        "a photographer from {place} has asked for a press pass",
        "the pigeons of the square were counted on {date}",
    ),
    topics=(
        Measure(
            label="frontage",
            most=True,
            show="{:g} metres",
            grid=0.1,
            limits=range(30, 61, 5),
            spread=14,
            asks=(
                "The front of booth {ref} is no wider than {limit}.",
                "Booth {ref} takes up at most {limit} of frontage.",
            ),
            bars=(
                "The front of booth {ref} is wider than {limit}.",
                "Booth {ref} takes up more than {limit} of frontage.",
            ),
            exact=(
                "the front of booth {ref} is {v} wide",
                "booth {ref} has a frontage of {v}",
                "{org} will take up {v} of frontage with booth {ref}",
            ),
            upper=(
                (
                    "the front of booth {ref} is not wider than {v}",
                    "the front of booth {ref} is wider than {v}",
                ),
                (
                    "the frontage of booth {ref} stays within {v}",
                    "the frontage of booth {ref} runs beyond {v}",
                ),
            ),
            lower=(
                (
                    "the frontage of booth {ref} is {v} or more",
                    "the frontage of booth {ref} is less than {v}",
                ),
                (
                    "the front of booth {ref} is no narrower than {v}",
                    "the front of booth {ref} is narrower than {v}",
                ),
            ),
            between=(
                "the front of booth {ref} will be from {a} to {b} wide",
                "the frontage of booth {ref} was paced out, not measured, and lies between {a} and {b}",
            ),
            open=(
                "the sketch of booth {ref} has no measurements on it",
                "{org} wrote only that booth {ref} is 'the usual width' and has not been at the fair before",
            ),
        ),
        Measure(
            label="deposit",
            most=False,
            show="£{:,.0f}",
            grid=5,
            limits=range(20, 81, 5),
            spread=15,
            asks=(
                "{org} (booking {ref}) has paid a deposit of at least {limit}.",
                "The deposit paid for booth {ref} comes to {limit} or more.",
            ),
            bars=(
                "{org} (booking {ref}) has paid a deposit of less than {limit}, or none.",
                "The deposit paid for booth {ref} comes to less than {limit}.",
            ),
            exact=(
                "{org} (booking {ref}) has paid a deposit of {v}",
                "the deposit paid for booth {ref} is {v}",
                "deposits for booth {ref} add up to {v} so far",
            ),
            upper=(
                (
                    "the deposit paid for booth {ref} is {v} at most",
                    "the deposit paid for booth {ref} is more than {v}",
                ),
                (
                    "{org} (booking {ref}) has not paid more than {v} as a deposit",
                    "{org} (booking {ref}) has paid more than {v} as a deposit",
                ),
            ),
            lower=(
                (
                    "the deposit paid for booth {ref} is not below {v}",
                    "the deposit paid for booth {ref} is below {v}",
                ),
                (
                    "{org} (booking {ref}) has paid {v} or more as a deposit",
                    "{org} (booking {ref}) has paid less than {v} as a deposit",
                ),
            ),
            between=(
                "the deposit paid for booth {ref} is a sum from {a} to {b}",
                "the accounts show only that {org} (booking {ref}) paid a deposit of between {a} and {b}",
            ),
            open=(
                "a deposit from {org} (booking {ref}) is on the bank statement, but the amount is blacked out",
                "{org} (booking {ref}) says that a deposit is on its way and names no sum; the account has not been looked at",
            ),
        ),
        Measure(
            label="booking date",
            most=True,
            show="date",
            limits=range(40, 200),
            spread=21,
            asks=(
                "Booking {ref} was made no later than {limit}.",
                "{org} made booking {ref} on or before {limit}.",
            ),
            bars=(
                "Booking {ref} was made after {limit}.",
                "{org} made booking {ref} later than {limit}.",
            ),
            exact=(
                "booking {ref} was made on {v}",
                "{org} made the booking for booth {ref} on {v}",
                "{v} is the day on which booking {ref} was made",
            ),
            upper=(
                (
                    "booking {ref} had been made by the end of {v}",
                    "booking {ref} had not been made by the end of {v}",
                ),
                (
                    "{org} (booking {ref}) made the booking on {v} at the latest",
                    "{org} (booking {ref}) made the booking later than {v}",
                ),
            ),
            lower=(
                (
                    "booking {ref} was not made before {v}",
                    "booking {ref} was made before {v}",
                ),
                (
                    "{org} (booking {ref}) made the booking on {v} or later",
                    "{org} (booking {ref}) made the booking earlier than {v}",
                ),
            ),
            between=(
                "booking {ref} was made at some time from {a} to {b}",
                "booking {ref} was made on a day between {a} and {b}, both days included",
            ),
            open=(
                "booking {ref} came on a card without a date, and the postmark is unreadable",
                "the message with booking {ref} was printed without its date and then deleted",
            ),
        ),
        Measure(
            label="power draw",
            most=True,
            show="{:,.0f} watts",
            grid=50,
            limits=range(30, 81, 5),
            spread=20,
            asks=(
                "The devices at booth {ref} draw no more than {limit} together.",
                "Booth {ref} has a total power draw of at most {limit}.",
            ),
            bars=(
                "The devices at booth {ref} draw more than {limit} together.",
                "Booth {ref} has a total power draw above {limit}.",
            ),
            exact=(
                "all the devices at booth {ref} together draw {v}",
                "the total power draw of booth {ref} is {v}",
                "the devices of {org} (booking {ref}) draw {v} in all",
            ),
            upper=(
                (
                    "the total power draw of booth {ref} does not go over {v}",
                    "the total power draw of booth {ref} goes over {v}",
                ),
                (
                    "{org} (booking {ref}) will draw {v} in total at the most",
                    "{org} (booking {ref}) will draw more than {v} in total",
                ),
            ),
            lower=(
                (
                    "the total power draw of booth {ref} is at least {v}",
                    "the total power draw of booth {ref} is less than {v}",
                ),
                (
                    "{org} (booking {ref}) will draw no less than {v} in total",
                    "{org} (booking {ref}) will draw less than {v} in total",
                ),
            ),
            between=(
                "the total power draw of booth {ref} is put at {a} to {b}",
                "with two devices still to be chosen, {org} (booking {ref}) will end up between {a} and {b} in total",
            ),
            open=(
                "{org} (booking {ref}) sent a list of devices without their power, and nobody has metered them",
                "the line for the power draw of booth {ref} holds only a drawing of a plug",
            ),
        ),
        Choice(
            label="goods",
            values=(
                "pottery",
                "candles",
                "second-hand books",
                "honey",
                "woollens",
                "wooden toys",
                "prints",
            ),
            asks=(
                "The registered goods of {org} (booking {ref}) are {these}.",
                "{org} (booking {ref}) is registered for the sale of {these}.",
            ),
            bars=(
                "The registered goods of {org} (booking {ref}) are something other than {these}.",
                "{org} (booking {ref}) is registered for the sale of something other than {these}.",
            ),
            exact=(
                (
                    "the one line of goods registered for {org} (booking {ref}) is {v}",
                    "the one line of goods registered for {org} (booking {ref}) is not {v}",
                ),
                (
                    "{org} (booking {ref}) is registered for {v} and for nothing else",
                    "{org} (booking {ref}) is registered for one line of goods other than {v}",
                ),
                (
                    "the sole goods registered for {org} (booking {ref}) are {v}",
                    "the sole goods registered for {org} (booking {ref}) are not {v}",
                ),
            ),
            either=(
                (
                    "{org} (booking {ref}) is registered for one line of goods, either {a} or {b}",
                    "{org} (booking {ref}) is registered for one line of goods, neither {a} nor {b}",
                ),
            ),
            open=(
                "the extract from the trade register ends just above the entry of {org} (booking {ref})",
                "{org} (booking {ref}) filled in 'various' where the registered line of goods should be named",
            ),
        ),
        Choice(
            label="day",
            values=("Thursday", "Friday", "Saturday", "Sunday", "Monday"),
            asks=(
                "Booth {ref} is booked for {these}.",
                "Booking {ref} is for the {these} of the fair.",
            ),
            bars=(
                "Booth {ref} is booked for a day other than {these}.",
                "Booking {ref} is for a day of the fair other than {these}.",
            ),
            exact=(
                (
                    "{org} (booking {ref}) has booked one day of the fair, {v}",
                    "{org} (booking {ref}) has booked one day of the fair, and it is not {v}",
                ),
                (
                    "booking {ref} is for {v} alone",
                    "booking {ref} is for a single day that is not {v}",
                ),
            ),
            either=(
                (
                    "booking {ref} is for a single day, either {a} or {b}",
                    "booking {ref} is for a single day, neither {a} nor {b}",
                ),
            ),
            open=(
                "{org} (booking {ref}) booked one day of the fair, and the day was garbled on the answering machine",
                "the square for the day on the form of booking {ref} was left empty",
            ),
        ),
        YesNo(
            label="liability insurance",
            asks=(
                "{org} (booking {ref}) has liability insurance that covers the fair.",
                "The fair is covered by the liability insurance of {org} (booking {ref}).",
            ),
            bars=(
                "{org} (booking {ref}) has no liability insurance that covers the fair.",
                "The fair is not covered by any liability insurance of {org} (booking {ref}).",
            ),
            says=(
                (
                    "the liability insurance of {org} (booking {ref}) is paid up and covers the fair",
                    "the liability insurance of {org} (booking {ref}) ran out before the fair and was not renewed",
                ),
                (
                    "{org} (booking {ref}) is not without liability insurance for the days of the fair",
                    "{org} (booking {ref}) is without liability insurance for the days of the fair",
                ),
                (
                    "the insurer of {org} will stand in for damage that booth {ref} does to others at the fair",
                    "no insurer will stand in for damage that booth {ref} of {org} does to others at the fair",
                ),
            ),
            reworded=(
                (
                    "{org} (booking {ref}) has paid for liability insurance that is in force at the fair",
                    "{org} (booking {ref}) let its liability insurance lapse before the fair and has not renewed it",
                ),
            ),
            others=(
                (
                    "a new liability policy of {org} (booking {ref}) begins a week before the fair and ends a year later",
                    True,
                ),
                (
                    "the only policy of {org} (booking {ref}) covers theft of its own goods and nothing else",
                    False,
                ),
                (
                    "the liability policy of {org} (booking {ref}) leaves out street fairs by name, and there is no second one",
                    False,
                ),
            ),
            open=(
                "{org} (booking {ref}) sent in a policy of which the page with the dates and the cover is missing",
                "{org} (booking {ref}) is changing insurers, and whether liability is covered on the days of the fair is still being asked",
            ),
        ),
        YesNo(
            label="open flame",
            asks=(
                "No open flame is used at booth {ref}.",
                "Booth {ref} does without any open flame.",
            ),
            bars=("An open flame is used at booth {ref}.", "Booth {ref} works with an open flame."),
            says=(
                (
                    "{org} will light nothing at booth {ref}, which has no flame of any kind",
                    "{org} will light a gas ring at booth {ref}, with an open flame",
                ),
                (
                    "booth {ref} works without an open flame",
                    "booth {ref} does not work without an open flame",
                ),
                (
                    "there is to be no burning candle, torch or stove at booth {ref}",
                    "there is to be a burning torch at booth {ref}",
                ),
            ),
            reworded=(
                (
                    "nothing will be lit by {org} at booth {ref}, and there is no flame of any kind",
                    "a gas ring with an open flame will be lit by {org} at booth {ref}",
                ),
            ),
            others=(
                (
                    "all the heat at booth {ref} comes from an electric plate, and no flame is lit",
                    True,
                ),
                ("{org} will melt wax over a spirit burner at booth {ref}", False),
            ),
            open=(
                "{org} (booking {ref}) asked whether a small stove would be allowed, and did not say whether one will be lit",
                "the page on stoves and flames was not sent in with booking {ref}",
            ),
        ),
        YesNo(
            label="extinguisher",
            asks=(
                "A working fire extinguisher is kept at booth {ref}.",
                "Booth {ref} is equipped with a fire extinguisher that works.",
            ),
            bars=(
                "No working fire extinguisher is kept at booth {ref}.",
                "Booth {ref} is not equipped with a fire extinguisher that works.",
            ),
            says=(
                (
                    "a fire extinguisher hangs at booth {ref} and was tested without a fault",
                    "a fire extinguisher hangs at booth {ref} but failed its test, and there is no other",
                ),
                (
                    "{org} keeps a working fire extinguisher at booth {ref}",
                    "{org} keeps no fire extinguisher at booth {ref}",
                ),
                (
                    "the fire extinguisher at booth {ref} is not empty but charged and ready for use",
                    "the fire extinguisher at booth {ref}, the only one, is empty",
                ),
            ),
            reworded=(
                (
                    "booth {ref} has a fire extinguisher on its wall, and it came through its test",
                    "booth {ref} has a single fire extinguisher on its wall, and it did not come through its test",
                ),
            ),
            others=(
                (
                    "two fire extinguishers, both in order, stand under the counter of booth {ref}",
                    True,
                ),
                ("the only thing against fire at booth {ref} is a wet sack", False),
            ),
            open=(
                "a fire extinguisher was seen at booth {ref}, and nobody tested whether it works",
                "the fire check of booth {ref} is filed without its answers",
            ),
        ),
    ),
)

SCHOLARSHIP = Domain(
    name="scholarship",
    favourable=(
        "An applicant is put on the shortlist for the scholarship",
        "Is applicant {ref} to be put on the shortlist?",
    ),
    adverse=(
        "An applicant is left off the shortlist for the scholarship",
        "Is applicant {ref} to be left off the shortlist?",
    ),
    reference="S/{}",
    organisations=("{} College", "{} Academy", "{} Grammar School", "{} High School"),
    records=("the applicant's folder", "the panel's worksheet", "the secretary's log"),
    background=(
        "the scholarship was endowed by a family of clockmakers from {place}",
        "{helper} takes the minutes of the panel with a fountain pen",
        "the panel meets in a room with {n} chairs",
        "the winners are photographed under the oak at {org}",
        "{helper} was head of the chess club of {org} until {date}",
        "the panel's coffee comes from a small roaster in {place}",
        "the portrait of the founder was cleaned on {date}",
        "{org} has put up {n} bird boxes behind the gym",
        "the prize dinner is held at {place} in a marquee",
        "{helper} has catalogued the founder's collection of clocks",
    ),
    topics=(
        Measure(
            label="average mark",
            most=False,
            show="{:g}%",
            limits=range(62, 86),
            spread=12,
            asks=(
                "The average mark of {who} is at least {limit}.",
                "{who} has an average mark of {limit} or better.",
            ),
            bars=(
                "The average mark of {who} is below {limit}.",
                "{who} has an average mark of less than {limit}.",
            ),
            exact=(
                "the average mark of {who} is {v}",
                "{who} finished the year with an average mark of {v}",
                "the marks of {who} average {v}",
            ),
            upper=(
                (
                    "the average mark of {who} is no higher than {v}",
                    "the average mark of {who} is higher than {v}",
                ),
                (
                    "the marks of {who} average {v} at most",
                    "the marks of {who} average more than {v}",
                ),
            ),
            lower=(
                (
                    "the average mark of {who} is no lower than {v}",
                    "the average mark of {who} is lower than {v}",
                ),
                (
                    "the marks of {who} average {v} at least",
                    "the marks of {who} average less than {v}",
                ),
            ),
            between=(
                "the average mark of {who} lies somewhere from {a} to {b}",
                "the marks of {who} are known to average somewhere between {a} and {b}",
            ),
            open=(
                "the transcript of {who} lists the courses but not the marks",
                "{org} holds back the marks of {who} until a library fee is paid",
            ),
        ),
        Measure(
            label="household income",
            most=True,
            show="£{:,.0f}",
            grid=100,
            limits=range(240, 461, 10),
            spread=90,
            asks=(
                "The yearly income of the household of {who} is no more than {limit}.",
                "The household of {who} lives on {limit} a year or less.",
            ),
            bars=(
                "The yearly income of the household of {who} is more than {limit}.",
                "The household of {who} lives on more than {limit} a year.",
            ),
            exact=(
                "the household of {who} has a yearly income of {v}",
                "{v} is what the household of {who} takes in over a year",
                "the household of {who} lives on {v} a year",
            ),
            upper=(
                (
                    "the yearly income of the household of {who} does not exceed {v}",
                    "the yearly income of the household of {who} exceeds {v}",
                ),
                (
                    "the household of {who} takes in {v} a year at the most",
                    "the household of {who} takes in more than {v} a year",
                ),
            ),
            lower=(
                (
                    "the household of {who} takes in no less than {v} a year",
                    "the household of {who} takes in less than {v} a year",
                ),
                (
                    "the yearly income of the household of {who} is {v} or more",
                    "the yearly income of the household of {who} is under {v}",
                ),
            ),
            between=(
                "the yearly income of the household of {who} comes to something from {a} to {b}",
                "the household of {who} declared a band, not a figure, for the year: {a} to {b}",
            ),
            open=(
                "the tax notice for the household of {who} is in an envelope that has not been opened",
                "the income form of the household of {who} was signed but the figures were not filled in",
            ),
        ),
        Measure(
            label="voluntary work",
            most=False,
            show="{:g} hours",
            limits=range(40, 121, 5),
            spread=28,
            asks=(
                "{who} has done at least {limit} of voluntary work.",
                "The voluntary work of {who} adds up to {limit} or more.",
            ),
            bars=(
                "{who} has done less than {limit} of voluntary work.",
                "The voluntary work of {who} adds up to less than {limit}.",
            ),
            exact=(
                "{who} has done {v} of voluntary work",
                "the voluntary work of {who} adds up to {v}",
                "{v} of voluntary work are credited to {who}, and that is all of it",
            ),
            upper=(
                (
                    "{who} has not done more than {v} of voluntary work",
                    "{who} has done more than {v} of voluntary work",
                ),
                (
                    "the voluntary work of {who} adds up to {v} at best",
                    "the voluntary work of {who} adds up to over {v}",
                ),
            ),
            lower=(
                (
                    "{who} has done no less than {v} of voluntary work",
                    "{who} has done less than {v} of voluntary work",
                ),
                (
                    "the voluntary work of {who} has reached {v}",
                    "the voluntary work of {who} has not reached {v}",
                ),
            ),
            between=(
                "{who} has done from {a} to {b} of voluntary work",
                "the voluntary work of {who} can be reckoned only as a total between {a} and {b}",
            ),
            open=(
                "{who} did voluntary work at the hospice, which keeps no count of hours",
                "the time sheet for the voluntary work of {who} was eaten by the dog, and no copy exists",
            ),
        ),
        Measure(
            label="submission",
            most=True,
            show="date",
            limits=range(40, 200),
            spread=18,
            asks=(
                "{who} sent in the application no later than {limit}.",
                "The application of {who} was sent in on or before {limit}.",
            ),
            bars=(
                "{who} sent in the application after {limit}.",
                "The application of {who} was sent in later than {limit}.",
            ),
            exact=(
                "{who} sent in the application on {v}",
                "the application of {who} was sent in on {v}",
                "{v} was the day on which {who} sent in the application",
            ),
            upper=(
                (
                    "{who} had sent in the application by the end of {v}",
                    "{who} had not yet sent in the application at the end of {v} but has done so since",
                ),
                (
                    "{who} sent in the application on {v} at the latest",
                    "{who} sent in the application later than {v}",
                ),
            ),
            lower=(
                (
                    "{who} did not send in the application before {v}",
                    "{who} sent in the application before {v}",
                ),
                (
                    "{who} sent in the application on {v} or later",
                    "{who} sent in the application earlier than {v}",
                ),
            ),
            between=(
                "{who} sent in the application at some time from {a} to {b}",
                "the application of {who} was sent in between {a} and {b}, both days included",
            ),
            open=(
                "the application of {who} is there, and the upload log that would date it has been wiped",
                "the date beside the signature of {who} has been left blank, and the envelope was thrown away",
            ),
        ),
        Choice(
            label="subject",
            values=(
                "chemistry",
                "nursing",
                "geology",
                "statistics",
                "botany",
                "economics",
                "Welsh",
            ),
            asks=("{who} is to study {these}.", "The subject that {who} will take up is {these}."),
            bars=(
                "{who} is to study a subject other than {these}.",
                "The subject that {who} will take up is something other than {these}.",
            ),
            exact=(
                (
                    "{who} has a place for a single subject, {v}",
                    "{who} has a place for a single subject, and it is not {v}",
                ),
                (
                    "{who} will study {v} and no other subject",
                    "{who} will study one subject, other than {v}",
                ),
                (
                    "the only subject of study that {who} will take up is {v}",
                    "the only subject of study that {who} will take up is not {v}",
                ),
            ),
            either=(
                (
                    "{who} will study one subject, either {a} or {b}",
                    "{who} will study one subject, neither {a} nor {b}",
                ),
            ),
            open=(
                "{who} will study from the autumn on, in a subject that the letter does not name",
                "the course code in the folder of {who} is one digit short and fits no subject",
            ),
        ),
        Choice(
            label="county",
            values=(
                "Averley",
                "Brentshire",
                "Carrowdale",
                "Dunmoor",
                "Eskland",
                "Fairholm",
                "Glenavon",
            ),
            asks=(
                "{who} grew up in the county of {these}.",
                "The county in which {who} grew up is {these}.",
            ),
            bars=(
                "{who} grew up in a county other than {these}.",
                "The county in which {who} grew up is one other than {these}.",
            ),
            exact=(
                (
                    "{who} grew up in {v} from birth to the last day of school",
                    "{who} grew up in one county, which was not {v}",
                ),
                (
                    "the whole childhood of {who} was spent in {v}",
                    "the whole childhood of {who} was spent in a county other than {v}",
                ),
            ),
            either=(
                (
                    "{who} grew up in one county, either {a} or {b}",
                    "{who} grew up in one county, neither {a} nor {b}",
                ),
            ),
            open=(
                "the birthplace of {who} is on file, but where {who} grew up is not recorded",
                "{who} named the river by which the family lived, and it runs through nine counties",
            ),
        ),
        YesNo(
            label="references",
            asks=(
                "Both letters of recommendation for {who} have arrived.",
                "The two letters of recommendation that {who} needs are in.",
            ),
            bars=(
                "Fewer than two letters of recommendation for {who} have arrived.",
                "At least one of the two letters of recommendation that {who} needs is not in.",
            ),
            says=(
                (
                    "both letters of recommendation for {who} have come in",
                    "one letter of recommendation for {who} has come in, and the other has not",
                ),
                (
                    "neither of the two letters of recommendation for {who} is missing",
                    "one of the two letters of recommendation for {who} is missing",
                ),
                (
                    "the second and last letter of recommendation for {who} arrived with the first",
                    "the second letter of recommendation for {who} did not arrive with the first or at any time since",
                ),
            ),
            reworded=(
                (
                    "the two letters of recommendation for {who} are both there",
                    "of the two letters of recommendation for {who}, only one is there",
                ),
            ),
            others=(
                (
                    "the headteacher and the employer of {who} have each delivered their letter of recommendation",
                    True,
                ),
                ("no letter of recommendation for {who} has come from anyone", False),
                ("only the choirmaster of {who} has sent a letter of recommendation", False),
            ),
            open=(
                "letters of recommendation for {who} have come in, and nobody has written down how many",
                "an envelope for {who} holds one or two letters of recommendation and is still sealed; no others have come",
            ),
        ),
        YesNo(
            label="other award",
            asks=(
                "{who} holds no other scholarship.",
                "No other scholarship has been awarded to {who}.",
            ),
            bars=(
                "{who} holds another scholarship.",
                "Another scholarship has been awarded to {who}.",
            ),
            says=(
                (
                    "no other foundation has given {who} a scholarship",
                    "another foundation has given {who} a scholarship",
                ),
                (
                    "{who} is without any other scholarship",
                    "{who} is not without another scholarship",
                ),
                (
                    "{who} would depend on this scholarship alone, as all others turned {who} down",
                    "{who} would not depend on this scholarship alone, as one other has been granted to {who}",
                ),
            ),
            reworded=(
                (
                    "{who} has not been given a scholarship by any other foundation",
                    "{who} has been given a scholarship by another foundation",
                ),
            ),
            others=(
                (
                    "{who} has never applied for, nor been given, any scholarship before this one",
                    True,
                ),
                ("{who} draws a monthly scholarship from the seafarers' guild", False),
            ),
            open=(
                "{who} applied to the seafarers' guild for a scholarship, and the outcome is not known; there was no other application",
                "the answer of {who} to the question about other scholarships is hidden under a label",
            ),
        ),
        YesNo(
            label="declaration",
            asks=(
                "{who} has signed the declaration that the essay is original.",
                "The declaration of originality for the essay bears the signature of {who}.",
            ),
            bars=(
                "{who} has not signed the declaration that the essay is original.",
                "The declaration of originality for the essay lacks the signature of {who}.",
            ),
            says=(
                (
                    "{who} has signed the declaration of originality",
                    "{who} has not signed the declaration of originality",
                ),
                (
                    "the declaration of originality is no longer without the signature of {who}",
                    "the declaration of originality is still without the signature of {who}",
                ),
                (
                    "{who} came to the office and put a signature to the declaration that the essay is original",
                    "{who} came to the office and refused to put a signature to the declaration that the essay is original",
                ),
            ),
            reworded=(
                (
                    "the declaration of originality has been signed by {who}",
                    "the declaration of originality has not been signed by {who}",
                ),
            ),
            others=(
                (
                    "{who} signed the declaration of originality by means of a certified electronic signature",
                    True,
                ),
                (
                    "the declaration of originality was signed by the mother of {who}, and not by {who}",
                    False,
                ),
            ),
            open=(
                "the declaration of originality bears initials that may be those of {who} or of a sister",
                "{who} was sent the declaration of originality, and no one has looked for a signed copy in the post",
            ),
        ),
    ),
)

KENNEL = Domain(
    name="kennel",
    favourable=("A dog is taken in at the kennel", "Is dog {ref} to be taken in?"),
    adverse=("A dog is sent home from the kennel", "Is dog {ref} to be sent home?"),
    reference="D-{}",
    organisations=("{} Kennels", "{} Dog Hotel", "{} Boarding", "{} Paws"),
    records=("the intake card", "the kennel ledger", "the night shift's handover"),
    background=(
        "the yard of {org} was laid with new gravel on {date}",
        "{helper} knits blankets for the waiting room",
        "{org} has {n} runs on the south side",
        "the owner, {who}, came by train from {place}",
        "the kennel's van is due for new tyres on {date}",
        "{helper} has painted the gate of {org} blue",
        "the telephone of {org} is answered from {n} minutes past seven",
        "a cat sleeps on the printer in the office of {org}",
        "the village of {place} has asked {org} to trim its hedge",
        "{helper} won the kennel's raffle on {date}",
    ),
    topics=(
        Measure(
            label="body weight",
            most=True,
            show="{:g} kg",
            grid=0.5,
            limits=range(40, 91, 5),
            spread=22,
            asks=(
                "Dog {ref} weighs no more than {limit}.",
                "The body weight of dog {ref} is {limit} or less.",
            ),
            bars=(
                "Dog {ref} weighs more than {limit}.",
                "The body weight of dog {ref} is above {limit}.",
            ),
            exact=(
                "dog {ref} weighs {v}",
                "dog {ref} came to {v} on the scales",
                "the body weight of dog {ref} is {v}",
            ),
            upper=(
                ("dog {ref} is not heavier than {v}", "dog {ref} is heavier than {v}"),
                (
                    "the body weight of dog {ref} keeps to {v} or less",
                    "the body weight of dog {ref} is over {v}",
                ),
            ),
            lower=(
                ("dog {ref} weighs at least {v}", "dog {ref} weighs less than {v}"),
                ("dog {ref} is no lighter than {v}", "dog {ref} is lighter than {v}"),
            ),
            between=(
                "dog {ref} weighs something from {a} to {b}",
                "dog {ref} would not stand still, and its weight is known only to lie between {a} and {b}",
            ),
            open=(
                "dog {ref} would not step on the scales and was not weighed",
                "the card of dog {ref} gives a weight, but of the dog and its basket together",
            ),
        ),
        Measure(
            label="vaccination",
            most=False,
            show="date",
            limits=range(40, 200),
            spread=30,
            asks=(
                "Dog {ref} was last vaccinated on or after {limit}.",
                "The last vaccination of dog {ref} took place no earlier than {limit}.",
            ),
            bars=(
                "Dog {ref} was last vaccinated before {limit}.",
                "The last vaccination of dog {ref} took place earlier than {limit}.",
            ),
            exact=(
                "dog {ref} was last vaccinated on {v}",
                "the last vaccination of dog {ref} was on {v}",
                "{v} was the day of the last vaccination of dog {ref}",
            ),
            upper=(
                (
                    "dog {ref} has had no vaccination after {v}, and the last one was on or before that day",
                    "dog {ref} has had a vaccination after {v}",
                ),
                (
                    "the last vaccination of dog {ref} took place on {v} at the latest",
                    "the last vaccination of dog {ref} took place later than {v}",
                ),
            ),
            lower=(
                (
                    "the last vaccination of dog {ref} took place on {v} or later",
                    "the last vaccination of dog {ref} took place earlier than {v}",
                ),
                (
                    "dog {ref} was last vaccinated no earlier than {v}",
                    "dog {ref} was last vaccinated before {v}",
                ),
            ),
            between=(
                "dog {ref} was last vaccinated at some time from {a} to {b}",
                "the vet's ledger puts the last vaccination of dog {ref} between {a} and {b}, both days included",
            ),
            open=(
                "the vaccination book of dog {ref} was left at home, and the vet could not be reached",
                "the sticker of the last vaccination of dog {ref} has come off together with its date",
            ),
        ),
        Measure(
            label="age",
            most=False,
            show="{:g} months",
            limits=range(12, 37, 3),
            spread=9,
            asks=("Dog {ref} is at least {limit} old.", "Dog {ref} has reached an age of {limit}."),
            bars=(
                "Dog {ref} is less than {limit} old.",
                "Dog {ref} has not reached an age of {limit}.",
            ),
            exact=(
                "dog {ref} is {v} old",
                "the age of dog {ref} is {v}",
                "dog {ref} has an age of {v}",
            ),
            upper=(),  # "over 17 months" may mean a day over
            lower=(
                ("dog {ref} is at least {v} old", "dog {ref} is less than {v} old"),
                ("dog {ref} is no younger than {v}", "dog {ref} is younger than {v}"),
            ),
            between=(
                "dog {ref} is somewhere from {a} to {b} old",
                "the age of dog {ref} lies between {a} and {b}",
            ),
            open=(
                "dog {ref} was found in a wood, and its age has not been estimated",
                "the owner of dog {ref} gave the dog's birthday but not the year",
            ),
        ),
        Measure(
            label="length of stay",
            most=True,
            show="{:g} nights",
            limits=range(9, 25),
            spread=7,
            asks=(
                "The stay of dog {ref} is to last no more than {limit}.",
                "Dog {ref} is booked in for {limit} at most.",
            ),
            bars=(
                "The stay of dog {ref} is to last more than {limit}.",
                "Dog {ref} is booked in for more than {limit}.",
            ),
            exact=(
                "dog {ref} is booked in for {v}",
                "the stay of dog {ref} is to last {v}",
                "{who} has reserved {v} for the dog",
            ),
            upper=(
                (
                    "the stay of dog {ref} will not go beyond {v}",
                    "the stay of dog {ref} will go beyond {v}",
                ),
                ("dog {ref} will stay for {v} or less", "dog {ref} will stay for more than {v}"),
            ),
            lower=(
                ("dog {ref} will stay for at least {v}", "dog {ref} will stay for less than {v}"),
                (
                    "the stay of dog {ref} will be no shorter than {v}",
                    "the stay of dog {ref} will be shorter than {v}",
                ),
            ),
            between=(
                "dog {ref} will stay for {a} to {b}",
                "the ferry of {who} is not booked, so that the stay of the dog will be between {a} and {b} long",
            ),
            open=(
                "{who} has not said on which day dog {ref} will be fetched",
                "the booking of dog {ref} has a first day and no last day",
            ),
        ),
        Choice(
            label="breed",
            values=("Beagle", "Whippet", "Poodle", "Collie", "Spaniel", "Greyhound", "Terrier"),
            asks=("Dog {ref} is a {these}.", "The breed of dog {ref} is {these}."),
            bars=(
                "Dog {ref} is of a breed other than {these}.",
                "The breed of dog {ref} is one other than {these}.",
            ),
            exact=(
                ("dog {ref} is a pure {v}", "dog {ref} is of a breed other than {v}"),
                (
                    "the breed of dog {ref} is {v}, without any admixture",
                    "the breed of dog {ref} is not {v}",
                ),
            ),
            either=(
                (
                    "dog {ref} is of a pure breed, either {a} or {b}",
                    "dog {ref} is of a pure breed, neither {a} nor {b}",
                ),
            ),
            open=(
                "the card of dog {ref} says 'breed: see pedigree', and no pedigree is there",
                "dog {ref} was booked in by telephone, and its breed was not asked",
            ),
        ),
        Choice(
            label="house",
            values=("Elm House", "Birch House", "Rowan House", "Maple House", "Willow House"),
            asks=(
                "Dog {ref} is to stay in {these}.",
                "The place reserved for dog {ref} is in {these}.",
            ),
            bars=(
                "Dog {ref} is to stay in a house other than {these}.",
                "The place reserved for dog {ref} is in a house other than {these}.",
            ),
            exact=(
                (
                    "the place reserved for dog {ref} is in {v}",
                    "the place reserved for dog {ref} is in a house other than {v}",
                ),
                (
                    "dog {ref} will spend the whole stay in {v}",
                    "dog {ref} will spend the whole stay in one house, and not in {v}",
                ),
            ),
            either=(
                (
                    "dog {ref} will be put in one house, either {a} or {b}",
                    "dog {ref} will be put in one house, neither {a} nor {b}",
                ),
            ),
            open=(
                "a place has been reserved for dog {ref}, and the house was not entered",
                "the name of the house reserved for dog {ref} has been chewed off the card",
            ),
        ),
        YesNo(
            label="bites",
            asks=(
                "Dog {ref} has never bitten anyone.",
                "Nobody has ever been bitten by dog {ref}.",
            ),
            bars=("Dog {ref} has bitten someone.", "Somebody has been bitten by dog {ref}."),
            says=(
                (
                    "dog {ref} has never bitten a living soul",
                    "dog {ref} has bitten a neighbour",
                ),
                (
                    "no one has ever felt the teeth of dog {ref} in a bite",
                    "someone has felt the teeth of dog {ref} in a bite",
                ),
                (
                    "in all its life dog {ref} has not once bitten a person",
                    "in all its life dog {ref} has bitten a person only once",
                ),
            ),
            reworded=(
                (
                    "there is not a living soul that dog {ref} has bitten",
                    "there is a neighbour whom dog {ref} has bitten",
                ),
            ),
            others=(
                (
                    "dog {ref} lost all its teeth as a puppy and has bitten nobody, before or since",
                    True,
                ),
                (
                    "a postman needed three stitches after dog {ref} caught him by the calf with its teeth",
                    False,
                ),
            ),
            open=(
                "a child was bitten by one of the two dogs of {who}, and which of them it was is not known; nothing else is on file",
                "dog {ref} is from abroad, and nothing has been learned of how it has behaved to people",
            ),
        ),
        YesNo(
            label="microchip",
            asks=(
                "Dog {ref} carries a microchip registered to {who}.",
                "{who} is registered as the owner on the microchip of dog {ref}.",
            ),
            bars=(
                "Dog {ref} carries no microchip registered to {who}.",
                "{who} is not registered as the owner on any microchip of dog {ref}.",
            ),
            says=(
                (
                    "the microchip of dog {ref} is registered to {who}",
                    "the one microchip of dog {ref} is registered to someone other than {who}",
                ),
                (
                    "dog {ref} was not left without a microchip, and the chip is registered to {who}",
                    "dog {ref} was left without a microchip by {who}",
                ),
                (
                    "the scanner found a microchip in dog {ref}, and the register gives {who} for it",
                    "the scanner found no microchip in dog {ref}, which has never had one",
                ),
            ),
            reworded=(
                (
                    "{who} is the one to whom the microchip of dog {ref} is registered",
                    "{who} is not the one to whom the only microchip of dog {ref} is registered",
                ),
            ),
            others=(
                (
                    "the vet put a new microchip in dog {ref} and registered it in the name of {who}",
                    True,
                ),
                ("dog {ref} has an ear tattoo instead of a microchip", False),
            ),
            open=(
                "the scanner found a microchip in dog {ref}, and the register of owners was offline",
                "nobody has run the scanner over dog {ref}, and {who} does not know whether there is a microchip",
            ),
        ),
        YesNo(
            label="consent",
            asks=(
                "{who} has signed the consent to treatment by a vet.",
                "The consent to treatment by a vet bears the signature of {who}.",
            ),
            bars=(
                "{who} has not signed the consent to treatment by a vet.",
                "The consent to treatment by a vet lacks the signature of {who}.",
            ),
            says=(
                (
                    "{who} has signed the consent to treatment by a vet",
                    "{who} has not signed the consent to treatment by a vet",
                ),
                (
                    "{who} did not leave before signing the consent to treatment by a vet",
                    "{who} left before signing the consent to treatment by a vet and has not signed it since",
                ),
                (
                    "the vet's consent form came back with the signature of {who}",
                    "the vet's consent form came back without the signature of {who}, who will not give it",
                ),
            ),
            reworded=(
                (
                    "the consent to treatment by a vet has been signed by {who}",
                    "the consent to treatment by a vet has not been signed by {who}",
                ),
            ),
            others=(
                ("{who} signed a form that lets any vet treat dog {ref} at any time", True),
                (
                    "the consent to treatment by a vet was signed only by a neighbour and not by {who}",
                    False,
                ),
            ),
            open=(
                "the consent form of dog {ref} is in a locked drawer, and nobody has looked whether it is signed",
                "a consent to treatment by a vet was signed, but the signature cannot be matched to {who} or to anyone",
            ),
        ),
    ),
)

DOMAINS = (GRAIN, PERMITS, LIBRARY, DRIVERS, BOOTHS, SCHOLARSHIP, KENNEL)

MONTHS = """
January February March April May June July August September October November December
"""
FIRST_NAMES = """
Ada Amir Anke Bela Carla Chidi Dana Dov Edith Emeka Farid Fiona Gita Goran Hana Hugo Ines Ivo
Jana Jomo Kaito Karin Lars Leila Mabel Marek Nadia Nils Olga Omar Petra Priya Quentin Rosa Ruben
Sana Sven Tariq Thea Uma Viktor Wanda Xenia Yusuf Zora
"""
SURNAMES = """
Abbott Adeyemi Baptiste Bianchi Brandt Castell Cerny Dahl Dias Eklund Esposito Ferreira Fry
Gallo Ganguly Hadad Halloran Ibarra Ito Jansen Jovic Kaminski Kerr Laurent Lindqvist Mensah
Moreau Nakai Novak Oakes Okafor Pavlov Penrose Quist Rahimi Renner Sato Sorley Tamm Thorne Ueda
Urban Varga Vega Wardle Whitlock Yilmaz Young Zanetti Ziegler
"""
# Stems and endings make places, and surnames too: a village and a family may share their name.
STEMS = """
Al Ash Bar Beck Brad Bram Cal Carl Dal Den Ed Elm Far Fen Gar Graf Had Haw Hol Hux Kel Kirk Lang
Led Mar Mel Nor Oak Ot Pen Quar Rad Red Sal Shel Stan Tar Thorn Ul Wal Wex Whit Yar
"""
ENDINGS = "bury by cote dale field ford ham leigh ley mere more stead stone ton well wick worth"

# What introduces a clause without adding to its strength.
LEADS = (
    "{record} states that {clause}",
    "according to {record}, {clause}",
    "what {record} says is that {clause}",
    "one can read in {record} that {clause}",
)

# What introduces a clause that is vouched for; the words of doubt keep them from giving away that
# other clauses are unconfirmed.
ASSURANCES = (
    "{helper} has confirmed that {clause}",
    "{helper} says, and nobody at {place} disputes, that {clause}",
    "{helper} checked, and there is no doubt whatever, that {clause}",
    "what was a rumour until {date} has been checked and confirmed since: {clause}",
    "{helper} no longer guesses but knows that {clause}",
    "what an unsigned note of {date} claimed has turned out to be right: {clause}",
    "what a stranger told {helper} has been looked into and is certain: {clause}",
    "the question mark has been struck from {record}, and it is settled that {clause}",
)

# What introduces a clause that nothing confirms.
HEDGES = (
    "there has been a rumour since {date}, confirmed by nobody, that {clause}",
    "an unsigned note of {date}, which nobody has checked, claims that {clause}",
    "a stranger told {helper}, who cannot say whether it is so, that {clause}",
    "a pencilled remark in {record}, followed by a question mark, is that {clause}",
    "it may be, although this note by {helper} does not settle the point, that {clause}",
    "{helper} guesses, without having looked into the matter, that {clause}",
)

# What adds support; the first two also fit a clause which says that something is not known.
TAILS = (
    ", as {helper} confirmed in writing on {date}",
    "; {helper} signed a statement to this effect on {date}",
    "; {helper} checked this and signed for it on {date}",
    "; {helper} has sent a certified copy of the proof, dated {date}",
    ", which {helper} verified on {date} and found to be right",
)

CONFLICTS = (
    "; another entry in the file says otherwise, and which of the two is right has not been found out",
    ", although this does not fit with another entry, and nobody can tell which of the two is wrong",
)
