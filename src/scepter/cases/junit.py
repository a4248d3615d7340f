"""Results of cases as JUnit XML, for build servers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from scepter.cases.runner import CaseResult, Status

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(results: Sequence[CaseResult]) -> str:
    """The JUnit document of a run."""
    counts = {status: sum(result.status is status for result in results) for status in Status}
    suite = ET.Element(
        "testsuite",
        name="scepter",
        tests=str(len(results)),
        failures=str(counts[Status.FAILED]),
        errors="0",
        skipped=str(counts[Status.SKIPPED]),
        time=f"{sum(result.seconds for result in results):.3f}",
    )
    for result in results:
        attributes = {"classname": str(result.path), "name": result.name, "time": f"{result.seconds:.3f}"}
        case = ET.SubElement(suite, "testcase", {key: _text(value) for key, value in attributes.items()})
        match result.status:
            case Status.FAILED:
                failure = ET.SubElement(case, "failure", message=_text(result.detail.partition("\n")[0]))
                failure.text = _text(result.detail)
            case Status.SKIPPED:
                ET.SubElement(case, "skipped", message=_text(result.detail))
            case Status.PASSED:
                continue
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _text(text: str) -> str:
    """Text without the control characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
