"""Add runs to a database, each in a transaction, and say which are in, until the end or until it is killed."""

import sys

from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address

address, name, count, wide = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
archive = Archive(Address.of(address))
trials = [Trial(Case(f"operator{i}"), Side("null"), "forward") for i in range(wide)]
records = tuple(Record(trial, "failed", Reason("crash", "it ended")) for trial in trials)
for i in range(count):
    archive.add(Run(f"{name}-{i}", "2026-11-23T10:00:00+00:00", ("opperf",), Settings(), records=records))
    print(f"{name}-{i}", flush=True)
