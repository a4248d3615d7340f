"""Social media: two streams of single triples about people on two networks (Sparkwave's figure of the social media pattern)."""

from __future__ import annotations

from collections.abc import Callable

from scepter.generate.draws import Draws, Indices
from scepter.generate.model import Dataset, Settings, Shape, StreamPlan, chosen

_FB = "http://facebook.example.org/ns#"
_TWD = "http://twitter.example.org/ns#"
_SMA = "http://socialmedia.example.org/ns#"
_SIOC = "http://rdfs.org/sioc/ns#"
_FOAF = "http://xmlns.com/foaf/0.1/"
_GEO = "http://sws.geonames.org/"
_FRIENDS = "http://foaf.example.org/friends.rdf"
_PLACES = 40
_FACEBOOK = "http://facebook.example.org/update/stream"
_TWITTER = "http://twitter.example.org/update/stream"
_ONTOLOGY = f"""\
PREFIX fb: <{_FB}>
PREFIX twd: <{_TWD}>
PREFIX sma: <{_SMA}>
PREFIX sioc: <{_SIOC}>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
fb:update rdfs:subPropertyOf sioc:creator_of ; rdfs:range fb:StatusUpdate .
fb:mentions rdfs:subPropertyOf sma:talksAbout .
twd:post rdfs:subPropertyOf sioc:creator_of ; rdfs:range twd:Tweet .
twd:talksAbout rdfs:subPropertyOf sma:talksAbout .
twd:Tweet rdfs:subClassOf sioc:Post .
fb:StatusUpdate rdfs:subClassOf sioc:Post .
"""
_QUERY = f"""\
REGISTER QUERY SamePlaceOnBothNetworks AS
PREFIX fb: <{_FB}>
PREFIX twd: <{_TWD}>
PREFIX sma: <{_SMA}>
PREFIX sioc: <{_SIOC}>
SELECT ?tweet ?update ?user
FROM STREAM <{_FACEBOOK}> [RANGE 10s]
FROM STREAM <{_TWITTER}> [RANGE 10s]
FROM <{_FRIENDS}>
WHERE {{
  ?tweet a twd:Tweet . ?tweet sma:talksAbout ?place . ?account sioc:creator_of ?tweet . ?account sioc:account_of ?user .
  ?update a fb:StatusUpdate . ?update sma:talksAbout ?place . ?other sioc:creator_of ?update . ?other sioc:account_of ?user
}}
"""


def plan(settings: Settings, draws: Draws) -> Dataset:
    """The two networks take turns, a triple every 10 ms: who posted what, then what the post is about."""
    people = chosen(settings.keys, 100)
    return Dataset(
        streams=(
            StreamPlan("facebook", _FACEBOOK, _network("facebook", _FB, ("update", "mentions"), people, draws)),
            StreamPlan("twitter", _TWITTER, _network("twitter", _TWD, ("post", "talksAbout"), people, draws)),
        ),
        interval=10,
        turns=(0, 1),
        background={_FRIENDS: _accounts(people)},
        ontology=_ONTOLOGY,
        queries={"same-place.sparkwave": _QUERY},
    )


def _network(name: str, namespace: str, predicates: tuple[str, str], people: int, draws: Draws) -> Callable[[Indices], Shape]:
    writes, about = (f"<{namespace}{predicate}>" for predicate in predicates)

    def shape(index: Indices) -> Shape:
        posts = index // 2
        person = draws.integers(f"social/{name} person", posts, 0, people - 1).tolist()
        place = draws.integers(f"social/{name} place", posts, 1, _PLACES).tolist()
        subjects, predicate, objects = [], [], []
        for number, post in enumerate(posts.tolist()):
            post_iri = f"<{namespace}post{post}>"
            announces = index[number] % 2 == 0
            subjects.append(f"<{namespace}user{person[number]}>" if announces else post_iri)
            predicate.append(writes if announces else about)
            objects.append(post_iri if announces else f"<{_GEO}{2_770_000 + place[number]}>")
        return ((subjects, predicate, objects),)

    return shape


def _accounts(people: int) -> str:
    head = [f"PREFIX fb: <{_FB}>", f"PREFIX twd: <{_TWD}>", f"PREFIX sioc: <{_SIOC}>", f"PREFIX foaf: <{_FOAF}>"]
    lines = [
        f"fb:user{number} sioc:account_of foaf:person{number} . twd:user{number} sioc:account_of foaf:person{number} ."
        for number in range(people)
    ]
    return "\n".join([*head, *lines, ""])
