"""Write the parts of the documentation that the code knows better, between marks in the pages.

    <!-- generated: help run -->
    ...
    <!-- end of generated -->

`python docs/generate.py` writes every part anew; `tests/docs` fails where one is not what it would be. The parts are
the help of each command, the tables of metrics, operators, columns and rules, the map of modules, the layers of the
import contract, and the library's signatures.
"""

from __future__ import annotations

import argparse
import configparser
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "opperf"
PART = re.compile(r"(<!-- generated: ([^\n]+?) -->\n).*?(<!-- end of generated -->)", re.DOTALL)
#: What a benchmark measured with an option of its own is another file: `drawn_pairs_settle`.
OPTION = re.compile(r"_(?=(?:settle|alone|loops)(?:_|$))")
#: The rules whose figures `reference/rules.md` lists, by module; each constant says its reason where it stands.
RULES = {
    "child.measure.lengths": ("TARGET_NS", "LONGEST_NS", "SETTLE_NS", "IN_FLIGHT_BYTES"),
    "child.measure.calibrate": (
        "PROBES",
        "PROBE_STEP",
        "PROBE_SHARE",
        "LONG_NS",
        "WARMUP_SHARE",
        "FALLING",
        "WINDOW",
        "MOST_BLOCKS",
        "MOST_OF_BUDGET",
        "SETTLE_CALLS",
        "SETTLED_NS",
    ),
    "child.measure.block": ("EMPTY_CALLS", "EMPTY_ROUNDS", "SINGLE_ROUNDS", "UNKNOWN_CACHE"),
    "child.measure.stopping": ("FIRST_LOOK", "LEAST", "LEAST_OF_SLOW", "MOST"),
    "child.measure.engine": ("LATENCY_CALLS", "CALLS_BEFORE_MEMORY"),
    "child.measure.disturbance": ("MOST_WAITING", "MOST_SWITCHES"),
    "child.measure.doubts": ("DRIFT", "ENOUGH", "GAP", "FAULTS", "MOST_OVER"),
    "child.measure.host": ("MOST_STOLEN", "MMAP_THRESHOLD", "TRIM_THRESHOLD"),
    "parent.documents.comparison": ("WIDEST", "MOVED_SHARE", "MOVED_BYTES"),
    "parent.documents.load": ("CROWDED",),
    "parent.documents.tolerances": ("TOLERANCE", "THRESHOLD", "FIRST_PAIRS"),
    "domain.measurement": (
        "ENOUGH_CLEAN",
        "LONG_CALL",
        "MOST_WAITS",
        "MOST_UNSEEN",
        "MOST_UNEXPLAINED",
        "SEVERAL_THREADS",
    ),
    "domain.peaks": ("FALLBACK_SHARE",),
    "parent.analysis.summary": ("ENOUGH_FOR_P99", "PROCESSES"),
    "parent.analysis.counts": ("LAYOUTS", "OF_TOLERANCE", "FLOOR"),
    "parent.analysis.verdict": (
        "LEAST_PAIRS",
        "LOOKS",
        "GROWTH",
        "MOST_PAIRS",
        "DISCOVERY_RATE",
        "ONE_STAGE",
        "ENOUGH_FOR_ONE",
        "TRIMMED_FROM",
        "TRIM",
        "MANIFOLD",
        "SEVERAL",
        "OF_SEVERAL",
    ),
    "parent.analysis.modes": (
        "GAP",
        "CLEAR",
        "MANY",
        "FAR",
        "MOST_GROUPS",
        "FAULT_SECONDS",
        "FEW_FAULTS",
        "SHARE_OF_TIME",
        "MAPPED_BYTES",
    ),
    "parent.analysis.two_runs": ("FLOOR",),
    "parent.analysis.change_points": ("MOST_PAST", "LEAST_PAST", "FENCE"),
    "parent.measuring.pairs": ("SHARE_OF_BAND",),
    "child.worker.directions": ("CHECKED_CALLS", "LONG_CALLS", "MOST_COMPARED", "MOST_COTANGENT"),
    "child.worker.inputs": ("MOST_DRAWN", "PIECE_ELEMENTS", "PIECE_NUMBERS", "BLOCK_OFFSET"),
    "child.backends.common.threads": ("WATCHED_NS",),
    "parent.workers.duel": ("HELD_BYTES", "MAKING_SECONDS"),
    "parent.workers.rounds": (
        "ROUNDS",
        "TURN_SAMPLES",
        "MOST_SAMPLES",
        "TURN_SECONDS",
        "PAIR_SECONDS",
        "LEAST_ROUNDS",
        "LONG_TURN",
        "FEW_ROUNDS",
        "MOST_ROUNDS",
    ),
    "parent.workers.placement": ("OFFSET_BYTES",),
    "parent.workers.pool": ("DESCRIBE_TIMEOUT", "MOST_HELD"),
    "parent.workers.process": ("START_TIMEOUT",),
    "parent.workers.starting": ("MEMORY_SHARE",),
    "parent.workers.supervision": ("GRACE",),
}


def pages() -> list[Path]:
    """Return every page of the documentation."""
    result = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*result, *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str) -> str:
    """Return a page with every generated part written anew."""
    return PART.sub(lambda found: f"{found[1]}{part(found[2]).strip()}\n{found[3]}", text)


def part(name: str) -> str:
    """Return the text of one part, by what stands in its mark."""
    kind, _, rest = name.partition(" ")
    return PARTS[kind](rest)


def help_of(command: str) -> str:
    """Return what `opperf COMMAND --help` prints on a terminal of 80 columns."""
    from opperf.parent.cli.main import app

    return _help(app, "opperf", *command.split())


def exit_codes(_: str) -> str:
    """Return what the help of each command says of its exit codes."""
    from typer.main import get_command

    from opperf.parent.cli.main import app

    rows = []
    commands: list[tuple[str, Any]] = [("", get_command(app))]
    for name, command in commands:
        commands += [(f"{name} {word}".strip(), one) for word, one in getattr(command, "commands", {}).items()]
        said = re.search(r"^Exit codes: (.+?)(?:\n\n|\Z)", command.help or "", re.DOTALL | re.MULTILINE)
        if said:
            rows.append((f"`opperf {name}`", " ".join(said[1].split()).removesuffix(".")))
    return table(("command", "codes"), sorted(rows))


def compat_help(system: str) -> str:
    """Return what the command line of another system's interface prints."""
    module = f"opperf.compat.{system}"
    return _help(import_module(f"{module}.__main__").app, f"python -m {module}")


def _help(app: Any, program: str, *words: str) -> str:
    from typer.testing import CliRunner

    said = CliRunner().invoke(app, [*words, "--help"], prog_name=program, env={"COLUMNS": "80"})
    if said.exit_code != 0:
        raise SystemExit(f"`{program} {' '.join(words)} --help` ended with exit code {said.exit_code}: {said.output}")
    return fenced("\n".join(line.rstrip() for line in said.output.strip("\n").splitlines()), "text")


def metrics(_: str) -> str:
    """Return the table of metrics."""
    from opperf.domain.metric import METRICS

    rows = [(f"`{entry.name}`", entry.unit.symbol, entry.better, entry.meaning) for entry in METRICS.values()]
    return table(("metric", "unit", "better", "meaning"), rows)


def operators(_: str) -> str:
    """Return a table of operators for each category."""
    from opperf.catalog import catalog, categories

    result = [f"{len(catalog())} operators in {len(categories())} categories.\n"]
    for category in categories():
        rows = [
            (
                f"`{entry.name}`",
                entry.summary,
                ", ".join(f"`{name}`" for name in (*entry.inputs, *entry.attributes)),
                "both" if "backward" in entry.directions else "forward",
                *_common(entry.name),
            )
            for entry in catalog().values()
            if entry.category == category
        ]
        titles = ("operator", "meaning", "arguments", "directions", "common inputs", "operations", "bytes")
        result += [f"### {category}\n", table(titles, rows)]
    return "\n".join(result)


def _common(name: str) -> tuple[str, str, str]:
    """Return the default inputs of the common size, and what one forward call computes and moves."""
    from opperf.catalog import operator
    from opperf.domain.units import format_bytes, format_flops
    from opperf.parent.reports.text import case_text

    entry = operator(name)
    case = entry.case("common")
    counts = entry.flop_count(case, "forward"), entry.byte_count(case, "forward")
    return f"`{case_text(case)}`", format_flops(counts[0]), format_bytes(counts[1])


def columns(_: str) -> str:
    """Return the columns of `--format csv`."""
    from opperf.parent.reports.columns import columns as declared

    return fenced(textwrap.fill(", ".join(column.name for column in declared() if column.name), 100), "text")


def fields(path: str) -> str:
    """Return the fields of a dataclass, with defaults, one a line."""
    module, _, name = path.rpartition(".")
    entry = getattr(import_module(f"opperf.{module}"), name)
    source = inspect.getsource(entry)
    result = [line.strip() for line in source.splitlines() if re.match(r"    \w+: ", line)]
    return fenced("\n".join(result), "text")


def tables(_: str) -> str:
    """Return the tables of the database, each with its columns."""
    from opperf.parent.store.database.schema import metadata

    parts = []
    for one in metadata.sorted_tables:
        rows = []
        for column in one.columns:
            (target,) = [key.column.table.name for key in column.foreign_keys] or [""]
            meaning = column.info.get("meaning") or (f"a row of `{target}`" if target else "")
            rows.append((f"`{column.name}`", str(column.type).lower(), "yes" if column.nullable else "", meaning))
        columns = table(("column", "type", "may be empty", "meaning"), rows)
        parts.append(f"### {one.name}\n\n{one.info['meaning']}\n\n{columns}")
    return "\n".join(parts)


def tolerances(_: str) -> str:
    """Return how far results may be off, by element type."""
    from opperf.child.worker.correctness import TOLERANCES

    return table(
        ("element type", "share of an element, and of the median one"),
        [(f"`{name}`", f"{TOLERANCES[name]:.0e}") for name in TOLERANCES],
    )


def signature(path: str) -> str:
    """Return the signature of a function of the package's face."""
    function = getattr(import_module("opperf"), path)
    parameters = inspect.signature(function).parameters.values()
    lines, starred = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            lines.append("    *,")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        lines.append(re.sub(r": '([^']*)'", r": \1", f"    {parameter},"))  # annotations are kept as text
    return fenced("\n".join([f"opperf.{path}(", *lines, ")"]), "text")


def methods(path: str) -> str:
    """Return the public methods of a class that the library returns, with what each returns."""
    entry = getattr(import_module("opperf.parent.library.results"), path)
    rows = [
        (f"`{name}`", first_line(value))
        for name, value in vars(entry).items()
        if inspect.isfunction(value) and not name.startswith("_")
    ]
    return table(("method", "meaning"), rows)


def errors(_: str) -> str:
    """Return the tree of errors."""
    from opperf.domain import errors

    tree = re.findall(r"^    (\S.*)$", errors.__doc__ or "", re.MULTILINE)
    return fenced("\n".join(tree), "text")


def modules(folder: str) -> str:
    """Return each module and folder of the package, or of a folder of it, with the first sentence of its docstring."""
    rows = []
    for path in sorted((PACKAGE / folder).iterdir(), key=lambda path: (path.is_dir(), path.name)):
        inside = path / "__init__.py" if path.is_dir() else path
        if path.name in ("__init__.py", "__pycache__") or not inside.is_file() or inside.suffix != ".py":
            continue
        rows.append((f"`{path.name}/`" if path.is_dir() else f"`{path.name}`", docstring(inside)))
    return table(("module", "what it is"), rows)


def layers(folder: str) -> str:
    """Return the layers of the package, or of a folder of it, highest first, as the import contracts have them."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    floors = contracts[f"importlinter:contract:{'floors' if folder else 'towers'}"]["layers"].split("\n")
    rooms = [[room for room in re.findall(r"\w+", floor) if _is_module(PACKAGE / folder / room)] for floor in floors]
    return fenced("\n".join(" | ".join(floor) for floor in rooms if floor), "text")


def _is_module(path: Path) -> bool:
    return path.is_dir() or path.with_suffix(".py").is_file()


def rules(_: str) -> str:
    """Return the figures of the measuring rules, as they stand in the code."""
    rows: list[tuple[str, str, str]] = []
    for module, names in RULES.items():
        entry = import_module(f"opperf.{module}")
        source = Path(inspect.getfile(entry)).read_text(encoding="utf-8")
        rows += [(f"`{module}.{name}`", _rule(getattr(entry, name)), reason(source, name)) for name in names]
    return table(("rule", "value", "the comment that stands above it"), rows)


def _rule(value: float | tuple[float, ...]) -> str:
    return ", ".join(f"{part:_}" for part in (value if isinstance(value, tuple) else (value,)))


def reason(source: str, name: str) -> str:
    """Return the `#:` comment above a constant; names that are assigned together share one."""
    result = re.search(
        rf"((?:^#: .*\n)+)(?:^[A-Z_]+(?:, [A-Z_]+)* = .*\n)*?^(?:[A-Z_]+, )*{name}\b", source, re.MULTILINE
    )
    return "" if result is None else " ".join(line.removeprefix("#: ") for line in result[1].splitlines())


def benchmark(name: str) -> str:
    """Return the command that wrote the results called `name`: `--name` called them so where nothing else does."""
    script, *options = re.split(OPTION, name)
    if not (ROOT / "benchmarks" / f"{script}.py").exists():
        script, _, part = script.rpartition("_")
        if re.search(rf'publish\([^)]*"{name}"', (ROOT / "benchmarks" / f"{script}.py").read_text()):
            return " ".join([f"{script}.py {part}", *(f"--{option}" for option in options)])
        options = [f"name {name}"]
    return " ".join([f"{script}.py", *(f"--{option}" for option in options)])


def figures(name: str) -> str:
    """Return what a benchmark measured when it was last run for the documentation, with the date and the machine.

    A number behind the name bounds the rows; `first` leaves out all tables but the first, `first 2` all but the first
    two. Nothing before it was run.
    """
    name, _, bound = name.partition(" ")
    most = int(bound) if bound.isdecimal() else None
    results = ROOT / "benchmarks" / "results" / f"{name}.json"
    if not results.exists():
        return ""
    result = json.loads(results.read_text(encoding="utf-8"))
    place = result["machine"]
    guest = ", a virtual machine" if place["hypervisor"] else ""
    command = benchmark(name)
    origin = f"`benchmarks/{command}` on {result['date']}: {place['cores_logical']} cores of {place['cpu']}{guest}."
    listed = result["rows"][:most]
    rows = [tuple(_figure(value) for value in row.values()) for row in listed]
    judged = [_judged(figure, values) for figure, values in result["figures"].items()]
    parts = [origin, "", *judged, "", table(tuple(result["rows"][0]), rows)]
    if len(listed) < len(result["rows"]):
        parts.append(f"{len(result['rows']) - len(listed)} more rows are in `benchmarks/results/{name}.json`.")
    tables = list(result.get("more", {}).items())
    if bound.startswith("first"):
        del tables[int(bound.removeprefix("first") or 1) - 1 :]
    for heading, more in tables:
        cells = [tuple(_figure(value) for value in row.values()) for row in more]
        parts += ["", f"{heading}:", "", table(tuple(more[0]), cells)] if more else []
    return "\n".join(parts)


def dependents(_: str) -> str:
    """Return which operators take another time for other values."""
    return figures("values")


def _judged(figure: str, known: dict[str, Any]) -> str:
    measured = f"{known['measured']:.3g} {known['unit']}".rstrip()
    return f"* {figure}: **{measured}** (target: at most {known['limit']:.3g}{'' if known['met'] else ', missed'})"


#: Smaller numbers are what is left of zero when floats are subtracted.
NOTHING = 1e-12


def _figure(value: str | float) -> str:
    if isinstance(value, str):
        return f"`{value}`" if value.startswith("opperf ") else value
    return f"{0.0 if abs(value) < NOTHING else value:.4g}"


def groups(_: str) -> str:
    """Return the groups of operators by the names of other tools."""
    from opperf.catalog.groups import GROUPS

    return table(("group", "operators"), [(f"`{name}`", ", ".join(members)) for name, members in GROUPS.items()])


def example(name: str) -> str:
    """Return the text of an example that the tests run where its framework is."""
    return fenced((ROOT / "examples" / name).read_text(encoding="utf-8").strip("\n"), "py")


def runners(_: str) -> str:
    """Return the functions of MXNet's opperf that measure a category."""
    from opperf.compat.mxnet_opperf.categories import RUNNERS, members

    rows = [(f"`{name}`", str(len(members(category))), f"`{category}`") for name, category in RUNNERS.items()]
    return table(("function", "operators", "category of opperf's own commands"), rows)


def unmeasured(framework: str) -> str:
    """Return what a framework has registered and opperf does not measure, by the reasons that the tests hold to it."""
    listed = ROOT / "tests" / "backends" / "known_failures" / f"{framework}.txt"
    result: dict[str, list[str]] = {}
    reason = ""
    for line in listed.read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("# https://"):
            reason = f"[{reason}]({line.removeprefix('# ')})"
        elif line.startswith("#"):
            reason = line.removeprefix("# ")
        elif line:
            path, direction = line.split()
            name = path.removeprefix("nd.").removeprefix("_internal.")
            result.setdefault(reason, []).append(f"`{name}`" + (" backward" if direction == "backward" else ""))
    return table(("reason", "operators"), [(reason, ", ".join(names)) for reason, names in result.items()])


def grammar(rest: str) -> str:
    """Return the keys of one level of PARAM's configs, or the types of their arguments, from the grammar itself."""
    from opperf.param import grammar, names

    if rest == "types":
        rows = [
            (f"`{name}`", entry.meaning, f"`{word}`", "yes" if one.required else "", one.kind.expected, one.meaning)
            for name, entry in grammar.ARGUMENTS.items()
            for word, one in entry.keys.items()
        ]
        rows += [(f"`{name}`", one.meaning, "", "", "", "") for name, one in grammar.ARGUMENTS.items() if not one.keys]
        return table(("type", "is", "key", "required", "holds", "meaning"), rows)
    if rest == "ranges":
        rows = [
            (f"`{name}`", f"`{word}`", one.ranged.expected)
            for name, entry in grammar.ARGUMENTS.items()
            for word, one in entry.keys.items()
            if one.ranged is not None
        ]
        return table(("type", "key", "under `__range__`"), rows)
    if rest == "names":
        return table(("name", "is"), [(f"`{name}`", f"`torch:{path}`") for name, path in names.REGISTERED.items()])
    entry = {"operator": "OPERATOR_KEYS", "config": "CONFIG_KEYS", "spec": "SPEC_KEYS", "argument": "SHARED"}[rest]
    return table(("key", "meaning"), [(f"`{word}`", text) for word, text in getattr(grammar, entry).items()])


def param_help(_: str) -> str:
    """Return the help of PARAM's command line."""
    from opperf.compat.param.command.tools import parser

    made = parser()
    made.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100, max_help_position=40)
    return fenced(made.format_help().strip(), "text")


PARTS: dict[str, Callable[[str], str]] = {
    "example": example,
    "runners": runners,
    "unmeasured": unmeasured,
    "help": help_of,
    "exit": exit_codes,
    "compat_help": compat_help,
    "metrics": metrics,
    "tables": tables,
    "operators": operators,
    "groups": groups,
    "columns": columns,
    "grammar": grammar,
    "param_help": param_help,
    "errors": errors,
    "fields": fields,
    "signature": signature,
    "methods": methods,
    "tolerances": tolerances,
    "modules": modules,
    "layers": layers,
    "rules": rules,
    "figures": figures,
    "dependents": dependents,
}


def docstring(path: Path) -> str:
    """Return the first sentence of a module, without importing it."""
    result = re.match(r'r?"""(.*?)(?:"""|\n\n)', path.read_text(encoding="utf-8"), re.DOTALL)
    return " ".join(result[1].split()) if result else ""


def first_line(known: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(known) or "").partition("\n")[0]


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def fenced(text: str, language: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```\n"


def main() -> None:
    """Write every part anew."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = filled(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
