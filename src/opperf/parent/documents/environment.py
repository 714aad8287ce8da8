"""An environment as the user writes it: which interpreter, with which packages, a framework is measured in.

    current               the interpreter that opperf itself runs in
    torch                 a preset: the name of a framework
    reference             a preset: what results are checked against
    numpy==1.26.4         one requirement, as PEP 508 writes it; what the framework cannot do without comes with it
    torch@ file:///W.whl  the same, for a wheel of the user's own
    torch + keras         one of these that opperf builds, and a library of layers that runs on the framework
    numpy==2.2.6 + numba==0.61.2
                          and further packages: requirements, wheels (`x.whl`), `git+file:///repo`, `-r FILE`
    python=PATH           an interpreter of the user's own, used as it is
    git:v2.4.0            a commit of a repository, built by a command, both of which the user names beside it

Beside this text stands what the mark of a built one says. Nothing is looked for, built or run here
(`parent/workers/environments.py` does).
"""

from __future__ import annotations

import os
import re
import time
import urllib.parse
from dataclasses import replace
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, near, unknown
from opperf.domain.registry import FRAMEWORKS, LAYER_LIBRARIES, PRESETS

#: The newest Python that has wheels of what the framework needs: NumPy below 1.24 stops there.
NEWEST_PYTHON = {"mxnet": (3, 11)}

# PEP 508 without markers: https://packaging.python.org/specifications/dependency-specifiers/
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_REQUIREMENT = re.compile(
    rf"(?P<name>{_NAME})\s*"
    rf"(?:\[(?P<extras>\s*{_NAME}\s*(?:,\s*{_NAME}\s*)*)\])?\s*"
    r"(?:@\s*(?P<url>\S+)|(?P<versions>[(<>=!~].*))?"
)
_VERSION = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>)\s*([A-Za-z0-9.*+!_-]+)\s*")
# One version of a package: no other clause, no wildcard, no URL.
_PIN = re.compile(rf"{_NAME}(\[[A-Za-z0-9._,-]+\])?==[A-Za-z0-9.+!_-]+")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:\S+")
_WHEEL = re.compile(rf"(?:.*/)?(?P<name>{_NAME})-[^/-]+(?:-[^/-]+)?-[^/-]+-[^/-]+-[^/-]+\.whl")
# A repository whose package is not named: only its own files say what that is.
_REPOSITORY = re.compile(r"git\+[A-Za-z]+:\S+")
_HINT = "write a framework (`mxnet`), a requirement (`numpy==1.26.4`) or `python=PATH`"
#: What the name of a commit begins with.
GIT = "git:"


@dataclass(frozen=True)
class CommitSource:
    """What a commit is built from: a repository of this machine, its whole name, and the user's command.

    `packages` are installed before, beside the framework.
    """

    repository: Path
    commit: str
    command: str
    packages: tuple[str, ...] = ()


class CommitText(str):
    """The text of an environment that is a commit, by a user who said what builds it: whatever keeps it can build it.

    The same text in a file is a mere name.
    """

    source: CommitSource

    def __new__(cls, text: str, source: CommitSource) -> CommitText:
        """Take what reports show, and what it means."""
        commit = super().__new__(cls, text)
        commit.source = source
        return commit


@dataclass(frozen=True)
class EnvironmentSpec:
    """An environment as a user requests it.

    `text` is its canonical spelling, what records show; reading it again gives an equal value. `framework` is None
    where the text does not tell (`current`, `python=PATH`, a package that opperf does not know). `files` are files of
    requirements, by absolute path. `source` is what a commit is built from, None for a mere name.

    >>> EnvironmentSpec.parse("MXNet_mkl == 1.6.0").requirements
    ('mxnet-mkl==1.6.0', 'numpy<1.24')
    """

    text: str
    kind: str
    framework: str | None = None
    requirements: tuple[str, ...] = ()
    path: str | None = None
    files: tuple[str, ...] = ()
    source: CommitSource | None = None

    @classmethod
    def parse(cls, text: str) -> EnvironmentSpec:
        """Read what the user wrote; raises `InputError`."""
        plain, *others = (part.strip() for part in re.split(r"\s\+\s", text.strip()))
        if others:
            spec = cls.parse(plain)
            for other in others:
                spec = spec.with_package(other)
            return spec
        if plain == "current":
            return CURRENT
        if plain.startswith(GIT):
            return cls(plain, "commit", source=text.source if isinstance(text, CommitText) else None)
        if plain in PRESETS:
            return preset(plain)
        library = next((own for own in FRAMEWORKS.values() if ":" in own.name and plain.startswith(own.name)), None)
        if library is not None and library.preset:  # `array_api:dask.array==2026.1.*` is `dask[array]==2026.1.*`
            package = re.match(rf"{_NAME}(\[.*?\])?", library.preset[0])
            return cls._requirement((package[0] if package else "") + plain.removeprefix(library.name))
        key, equals, path = plain.partition("=")
        if equals and key.strip().lower() == "python":
            return cls._python(path.strip())
        return cls._requirement(plain)

    @classmethod
    def _python(cls, path: str) -> EnvironmentSpec:
        if not path or path.startswith("="):
            raise InputError("`python=` names no interpreter", hint="write `python=/path/to/bin/python`")
        return cls(f"python={path}", "python", path=path)

    @classmethod
    def _requirement(cls, text: str) -> EnvironmentSpec:
        match = _REQUIREMENT.fullmatch(text)
        if match is None:
            raise _no_environment(text)
        name = normalize(match["name"])
        # A plugin that brings a framework comes after opperf's own, and goes before an array library of that package.
        owner = next((own.name for own in reversed(FRAMEWORKS.values()) if own.owns(name)), None)
        if owner is None and match["url"] is None and match["versions"] is None:
            # A bare name is far more often a slip of the pen than a package, and installing a package runs its code.
            raise unknown("environment", text, PRESETS, hint=_HINT)
        requirement = name + _extras(match["extras"]) + _constraint(text, match["url"], match["versions"])
        companions = FRAMEWORKS[owner].companions if owner else ()
        beside = tuple(other for other in companions if requirement_name(other) != name)
        return cls(requirement, "requirement", owner, (requirement, *beside))

    def with_package(self, text: str) -> EnvironmentSpec:
        """Return the environment with another package, or a file of them, in addition; raises `InputError`.

        >>> EnvironmentSpec.parse("jax==0.9.2").with_package("keras==3.9.0").requirements
        ('jax==0.9.2', 'keras==3.9.0')
        """
        text = text.strip()
        if not self.requirements:
            raise InputError(
                f"opperf cannot add {text or 'nothing'} to `{self.text}`",
                hint="install it there, or name an environment to build",
            )
        addition = _addition(text)
        return replace(
            self,
            text=f"{self.text} + {addition.text}",
            framework=self.framework or addition.framework,
            requirements=(*self.requirements, *(one for one in addition.requirements if one not in self.requirements)),
            files=(*self.files, *addition.files),
        )

    @property
    def names_packages(self) -> bool:
        """Whether the user has said what is beside the framework.

        >>> [EnvironmentSpec.parse(text).names_packages for text in ("numpy==2.4.6", "numpy==2.4.6 + packaging")]
        [False, True]
        """
        return " + " in self.text

    def has(self, library: str) -> bool:
        """Whether the library of layers is installed, as far as the text tells."""
        bundled = self.framework in LAYER_LIBRARIES[library].bundled
        return bundled or library in map(requirement_name, self.requirements)

    @property
    def is_public(self) -> bool:
        """Whether it is opperf's own, or one version of a package that a framework's project publishes.

        That is all that a file of results or a database may ask for. An interpreter, a wheel, any other package (one
        called `numpy-fast` is nobody's flavour of NumPy) and a version left open are the user's to name.

        >>> [EnvironmentSpec.parse(text).is_public for text in ("numpy", "numpy==2.2.6", "numpy>=2", "numpy-fast==2")]
        [True, True, False, False]
        """
        if self.kind in ("python", "commit"):
            return False
        framework_pin, *libraries = self.text.split(" + ")
        if self.files or any(requirement_name(text) not in LAYER_LIBRARIES for text in libraries):
            return False  # any other package is the user's to name
        pins = [text for text in libraries if text not in LAYER_LIBRARIES]
        if self.kind == "requirement":
            pins.append(framework_pin)
            if self.framework is None or requirement_name(self.requirements[0]) not in _published(self.framework):
                return False
        return all(_PIN.fullmatch(pin) for pin in pins)

    @property
    def newest_python(self) -> tuple[int, int] | None:
        """The newest Python that the environment can be built for; None where any will do."""
        return NEWEST_PYTHON.get(self.framework or "")


@dataclass(frozen=True)
class BuiltEnvironment:
    """An environment that opperf built: what its mark says.

    `name` is the folder's, unique; `text` what was asked for. `created` is in seconds since 1970, `size` in bytes
    (files that uv shares with its own cache count), `packages` is what uv installed, `frameworks` what can be imported.
    """

    name: str
    text: str
    requirements: tuple[str, ...]
    executable: str
    python: str
    frameworks: tuple[str, ...]
    packages: tuple[str, ...]
    size: int
    created: float
    uv: str

    @property
    def age(self) -> float:
        """How long ago it was built, in seconds."""
        return max(0.0, time.time() - self.created)


def _addition(text: str) -> EnvironmentSpec:
    """Read an addition to an environment as one of its own; raises `InputError`."""
    option, _, file = text.partition(" ")
    if option in ("-r", "--requirement") and file.strip():
        path = os.path.abspath(os.path.expanduser(file.strip()))
        return EnvironmentSpec(f"-r {path}", "requirement", files=(path,))
    if text in LAYER_LIBRARIES:
        return EnvironmentSpec(text, "requirement", None, (LAYER_LIBRARIES[text].requirement,))
    wheel = _WHEEL.fullmatch(text.replace("\\", "/"))
    if wheel is not None and "://" not in text:
        url = "file://" + urllib.parse.quote(os.path.abspath(os.path.expanduser(text)))
        text = f"{wheel['name']} @ {url}"
    if _REPOSITORY.fullmatch(text):
        return EnvironmentSpec(text, "requirement", None, (text,))
    match = _REQUIREMENT.fullmatch(text)
    if match is not None and match["url"] is None and match["versions"] is None:
        close = near(normalize(match["name"]), LAYER_LIBRARIES)
        if close:
            hint = f"did you mean `{close[0]}`? Otherwise add its version"
            raise unknown("package", text, LAYER_LIBRARIES, hint=hint)
        own = normalize(match["name"]) + _extras(match["extras"])
        return EnvironmentSpec(own, "requirement", None, (own,))
    try:
        spec = EnvironmentSpec._requirement(text)
    except InputError as error:
        hint = "write `numba==0.61.2`, `x.whl`, `NAME @ URL`, `git+file:///repo` or `-r FILE`"
        message = f"cannot add `{text}` to an environment: {error.message}"
        raise InputError(message, hint=hint, slug=error.slug) from error
    return spec


#: The interpreter that opperf itself runs in.
CURRENT = EnvironmentSpec("current", "current")


def preset(name: str) -> EnvironmentSpec:
    """Return the environment with a name, often a framework's; one that needs no packages is `current`."""
    owner, requirements = PRESETS[name]
    return EnvironmentSpec(name, "preset", owner, requirements) if requirements else CURRENT


def normalize(name: str) -> str:
    """Return the name of a package as PEP 503 compares it.

    >>> normalize("MXNet_mkl")
    'mxnet-mkl'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement_name(requirement: str) -> str:
    """Return the package that a requirement is about.

    >>> requirement_name("jax[cpu]==0.10.2")
    'jax'
    """
    match = re.match(_NAME, requirement)
    return normalize(match[0]) if match else ""


def _published(framework: str) -> set[str]:
    """Return the packages that a framework's own project publishes."""
    own = FRAMEWORKS[framework]
    return {*own.distributions, *own.flavours, *filter(own.owns, map(requirement_name, own.preset))}


def _extras(text: str | None) -> str:
    if text is None:
        return ""
    return f"[{','.join(sorted({normalize(extra.strip()) for extra in text.split(',')}))}]"


def _constraint(text: str, url: str | None, versions: str | None) -> str:
    if url is not None:
        if _URL.fullmatch(url) is None:
            raise InputError(f"`{url}` in `{text}` is not a URL", hint="write a file as `NAME @ file:///path/to.whl`")
        return f" @ {url}"
    if versions is None:
        return ""
    clauses = versions.strip().removeprefix("(").removesuffix(")").split(",")
    matches = [_VERSION.fullmatch(clause) for clause in clauses]
    if not all(matches):
        raise _no_environment(text)
    return ",".join(clause[1] + clause[2] for clause in matches if clause)


def _no_environment(text: str) -> InputError:
    if ";" in text:
        return InputError(
            f"`{text}` has a marker (`;`), which an environment cannot have", hint=_HINT, slug="unknown_environment"
        )
    name, equals, version = text.partition("=")
    hint = f"write `{name}=={version}`" if equals and re.fullmatch(_NAME, name) and version[:1].isdigit() else _HINT
    return InputError(f"cannot read `{text}` as an environment", hint=hint, slug="unknown_environment")
