"""Read a document that is there, and list the operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from opperf.domain.profile.event import Profile as ProfileDocument
from opperf.domain.record import Run
from opperf.domain.suite import Suite as SuiteDocument
from opperf.parent.commands import load as loading
from opperf.parent.commands.listing import listing
from opperf.parent.documents.bisection import Bisection as BisectionDocument
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.exploration import Exploration as ExplorationDocument
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.documents.judgement import GateDocument
from opperf.parent.documents.suite_change import SuiteChange as SuiteChangeDocument
from opperf.parent.documents.trace import Replay as ReplayDocument
from opperf.parent.documents.what_if import WhatIfRun
from opperf.parent.library.arguments import as_list
from opperf.parent.library.options import Names, Paths
from opperf.parent.library.results import (
    Bisection,
    Comparisons,
    Exploration,
    Gate,
    Judgements,
    Noise,
    Operators,
    Profile,
    Replay,
    Results,
    Suite,
    SuiteChange,
    WhatIf,
)
from opperf.parent.measuring.progress import Silent

#: What each document of a file becomes.
OBJECTS: Mapping[type, Callable[[Any], Any]] = {
    Run: Results,
    ComparisonRun: Comparisons,
    SuiteChangeDocument: SuiteChange,
    WhatIfRun: WhatIf,
    NoiseRun: Noise,
    JudgedRun: Judgements,
    ReplayDocument: Replay,
    BisectionDocument: Bisection,
    ExplorationDocument: Exploration,
    SuiteDocument: Suite,
    ProfileDocument: Profile,
}


def load(path: str | Path) -> Results | Comparisons | Gate | Judgements | Noise | Replay | Suite | Profile:
    """Read a document that opperf wrote: results, comparisons, judgements, noise floors, a suite, a profile.

    >>> import opperf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     opperf.run("null:steady", runs=5).save(f"{folder}/results.json")
    ...     opperf.load(f"{folder}/results.json")
    <opperf.Results: 1 record: 1 ok>
    """
    document = loading.read_document(Path(path))
    if isinstance(document, GateDocument):
        return Gate(document.run, document.judgement)
    result: Results | Comparisons | Judgements | Noise | Replay | Suite | Profile = OBJECTS[type(document)](document)
    return result


def operators(
    pattern: Names = None, *, category: Names = None, framework: Names = None, plugin: Paths = None
) -> Operators:
    """Return the operators that can be measured; with frameworks, their implementations of each.

    Those that a `plugin` declares stand at the end.

    >>> import opperf
    >>> sorted(opperf.operators("*softmax"))
    ['log_softmax', 'softmax']
    """
    return Operators(*listing(as_list(pattern), as_list(category), as_list(framework), Silent().note, as_list(plugin)))
