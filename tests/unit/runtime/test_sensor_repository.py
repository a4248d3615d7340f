"""Queries as CityBench writes them: several sensor streams, periodic windows, a large static repository of sensors."""

from __future__ import annotations

import time

from scepter import Engine, Event, parse

SES = "http://www.insight-centre.org/dataset/SampleEventService#"
SSN = "http://purl.oclc.org/NET/ssnx/ssn#"
SAO = "http://purl.oclc.org/NET/sao/"
CT = "http://www.insight-centre.org/citytraffic#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
REPOSITORY = "http://example/SensorRepository.rdf"
SENSORS = 2_000

QUERY = f"""
REGISTER QUERY Q1 AS
PREFIX ses: <{SES}>
PREFIX ssn: <{SSN}>
PREFIX sao: <{SAO}>
PREFIX ct: <{CT}>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
select ?obId1 ?obId2 ?v1 ?v2
from stream <{SES}Traffic1> [range 3000ms step 1s]
from stream <{SES}Traffic2> [range 3s step 1s]
from <{REPOSITORY}>
where {{
  ?p1 a ct:CongestionLevel .
  ?p2 a ct:CongestionLevel .
  {{ ?obId1 a ?ob .
     ?obId1 ssn:observedProperty ?p1 .
     ?obId1 sao:hasValue ?v1 .
     ?obId1 ssn:observedBy ses:Traffic1 . }}
  {{ ?obId2 a ?ob .
     ?obId2 ssn:observedProperty ?p2 .
     ?obId2 sao:hasValue ?v2 .
     ?obId2 ssn:observedBy ses:Traffic2 . }}
  ?p1 ct:hasPosition ?where . ?p2 ct:hasPosition ?where .
  FILTER (xsd:double(?v1) + xsd:double(?v2) > 10)
}}
"""


def repository() -> str:
    lines = []
    for sensor in range(SENSORS):
        lines.append(f"<{SES}Traffic{sensor}> <{SSN}observes> <{SES}level{sensor}> .")
        lines.append(f"<{SES}level{sensor}> <{TYPE}> <{CT}CongestionLevel> .")
        lines.append(f"<{SES}level{sensor}> <{CT}hasPosition> <{SES}road{sensor // 10}> .")
        lines += [f"<{SES}Traffic{sensor}> <{CT}note{n}> {n} ." for n in range(5)]
    return "\n".join(lines) + "\n"


def observation(sensor: int, value: int, second: int) -> Event:
    one = f"<{SES}ob{sensor}-{second}>"
    graph = (
        f"{one} a <{SSN}Observation> ; <{SSN}observedProperty> <{SES}level{sensor}> ; "
        f'<{SAO}hasValue> "{value}" ; <{SSN}observedBy> <{SES}Traffic{sensor}> .'
    )
    return Event(f"{SES}Traffic{sensor}", graph, second * 1_000)


def test_two_streams_and_a_repository() -> None:
    engine = Engine(parse(QUERY), background={REPOSITORY: repository()})
    engine.push(observation(1, 4, 1))  # sets the run up, which reads the repository
    began = time.process_time()
    found = engine.push_all([e for second in range(2, 42) for e in (observation(1, second, second), observation(2, 3, second))])
    found += engine.close()
    spent = time.process_time() - began
    answers: dict[int, int] = {}
    for match in found:
        answers[match.end] = answers.get(match.end, 0) + 1
    # at second t the windows hold seconds t-2 .. t of both; 3 + v > 10 from second 8 on; three seconds of the other stream
    assert {end // 1_000: n for end, n in answers.items()} == {
        8: 3, 9: 6, **dict.fromkeys(range(10, 42), 9), 42: 4, 43: 1,
    }  # fmt: skip
    assert spent < 3  # starting from the repository instead of the stream takes minutes
