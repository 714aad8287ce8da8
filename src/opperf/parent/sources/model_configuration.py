"""A model by its configuration, in the format of the Hugging Face hub: read as data, and divided among devices.

Of tensor parallelism a configuration says what one device holds: columns of the layers that widen, rows of those that
narrow, some of the heads, and some of the words. So the sizes of these are divided, and the rest is as it was. What
devices tell each other between layers is no operator of one device.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.files.json_text import JsonDict, JsonObject, NotJSON, show, value_of
from opperf.domain.message.requests import PHASES, Usage
from opperf.domain.tensor import parse_dtype
from opperf.domain.tensor_parallel import DIVISIONS

#: How a name on the command line says that it is one.
PREFIX = "config:"
#: How many layers of each stack are captured.
LAYERS = ("all", "one")
#: Bytes of a configuration: the longest ones that are published have some 50 KiB, for names of labels.
LONGEST = 1 << 20
#: A size above this is no size of a model, and a list of so many layers would take all memory.
LARGEST, MOST_LAYERS = 1 << 31, 1000
#: Keys that mean the same in different models: what must be there, and what is divided.
WIDTH = ("hidden_size", "d_model", "n_embd", "dim")
DEPTH = (
    "num_hidden_layers", "n_layer", "num_layers", "encoder_layers", "decoder_layers", "n_layers", "num_single_layers",
)  # fmt: skip
HEADS = (
    "num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads", "decoder_attention_heads",
)  # fmt: skip
HEAD_SIZES = ("head_dim", "d_kv")
GROUPS = ("num_key_value_heads",)
INNER = (
    "intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size", "ffn_dim", "n_inner", "d_ff",
    "hidden_dim", "encoder_ffn_dim", "decoder_ffn_dim",
)  # fmt: skip
VOCABULARY = ("vocab_size",)
#: Numbers of words that mean something; one device need not have them.
WORDS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")
#: Keys that name code or files of others, or how the weights are packed: shapes are those of plain weights.
IGNORED = ("auto_map", "quantization_config", "_attn_implementation", "attn_implementation", "experts_implementation")
HINT = "write a `config.json` as the Hugging Face hub has it, with `model_type`, `architectures` and the sizes"


@dataclass(frozen=True)
class Model:
    """A configuration to build, by the name of its file, with what was assumed of it."""

    name: str
    configuration: JsonObject
    assumed: tuple[str, ...] = ()

    @property
    def library(self) -> str:
        """The package that builds it."""
        return "diffusers" if "_class_name" in self.configuration else "transformers"


def read(path: Path, usage: Usage) -> Model:
    """Return the model of a file, as one device has it; raises `InputError` that names the place."""
    configuration = _object(path)
    for place in ("", "text_config"):
        _check_sizes(path, place, configuration.get(place, {}) if place else configuration)
    if "_class_name" not in configuration:
        _check_keys(path, configuration)
    assumed = []
    ignored = [key for key in IGNORED if key in configuration]
    if ignored:
        assumed.append(f"left out of the configuration: {', '.join(ignored)}")
    result: JsonDict = {key: value for key, value in configuration.items() if key not in ignored}
    if usage.layers == "one":
        shorter = _one_layer(result)
        if shorter == result:
            raise InputError(
                f"{path}: `--layers one` needs a `{DEPTH[0]}`", hint="leave it out: all layers are captured"
            )
        result = shorter
        assumed.append("one layer of each stack: the first")
    if usage.split > 1:
        result, notes = divide(result, usage.split, str(path))
        assumed += notes
    return Model(path.stem if path.stem != "config" else path.absolute().parent.name, result, tuple(assumed))


def workload(name: str) -> tuple[Path, Usage]:
    """Return the file and the usage of a workload that comes with opperf, `NAME` or `NAME:PHASE`.

    Raises `InputError` for one that there is not.
    """
    stem, _, phase = name.partition(":")
    files = {path.stem: path for path in sorted(_folder().glob("*.json"))}
    if stem not in files:
        raise unknown("workload", stem, files, hint=f"known: {', '.join(files)}; `config:FILE` is captured first")
    usage = Usage()
    return files[stem], usage_of(phase or usage.phase, usage.batch, usage.context, None, 1, usage.layers)


def _folder() -> Path:
    """Return where the workloads are: in the package that is installed, or in the checkout."""
    installed = Path(__file__).parent / "workloads"
    return installed if installed.is_dir() else Path(__file__).parents[4] / "examples" / "workloads"


def _object(path: Path) -> JsonDict:
    try:
        size = path.stat().st_size
        if size > LONGEST:
            raise InputError(f"{path}: {size:,} bytes, expected a configuration of at most {LONGEST:,}", hint=HINT)
        value = value_of(path.read_bytes())
    except OSError as error:
        raise InputError(f"no file `{path}`: {error.strerror}", hint=HINT) from error
    except (NotJSON, ValueError) as error:
        raise InputError(f"{path}: {error}", hint=HINT) from error
    if not isinstance(value, dict):
        raise InputError(f"{path}: {show(value)}, expected an object", hint=HINT)
    return value


def _check_keys(path: Path, configuration: JsonObject) -> None:
    """Raise `InputError` for a configuration without what says which model it is, and how large."""
    kind, names = configuration.get("model_type"), configuration.get("architectures")
    if not isinstance(kind, str):
        raise InputError(f"{path}: `model_type` is {show(kind)}, expected the name of a kind of model", hint=HINT)
    if not (isinstance(names, list) and names and isinstance(names[0], str)):
        raise InputError(f"{path}: `architectures` is {show(names)}, expected a list of a class", hint=HINT)
    for keys in (WIDTH, DEPTH):
        if not any(key in own for own in _parts(configuration) for key in keys):
            raise InputError(f"{path}: no {' or '.join(f'`{key}`' for key in keys[:3])}", hint=HINT)


def _parts(configuration: JsonObject) -> Iterator[JsonObject]:
    """Yield a configuration and those within it, such as that of the text in a model of images and text."""
    yield configuration
    yield from (value for key, value in configuration.items() if key.endswith("_config") and isinstance(value, dict))


def _check_sizes(path: Path, place: str, configuration: object) -> None:
    """Raise `InputError` for sizes that are none."""
    if not isinstance(configuration, dict):
        raise InputError(f"{path}: `{place}` is {show(configuration)}, expected an object", hint=HINT)
    for key in (*WIDTH, *DEPTH, *HEADS, *GROUPS, *INNER, *VOCABULARY):
        value = configuration.get(key)
        if value is None:
            continue
        most = MOST_LAYERS if key in DEPTH else LARGEST
        sizes = value if isinstance(value, list) else [value]
        if not all(isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= most for one in sizes):
            raise InputError(
                f"{path}: `{place and place + '.'}{key}` is {show(value)}, expected a whole number from 1 to {most:,}"
            )


def divide(configuration: JsonObject, split: int, where: str) -> tuple[JsonDict, list[str]]:
    """Return the configuration of one of `split` devices, and what was assumed; raises `InputError`.

    What modules are made of stays where they are divided once they are built.

    >>> divide({"hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 100}, 4, "c")[0]
    {'hidden_size': 64, 'num_attention_heads': 2, 'num_key_value_heads': 1, 'vocab_size': 25, 'head_dim': 8}
    """
    result: JsonDict = dict(configuration)
    modules = DIVISIONS.get(str(result.get("model_type")))
    heads = [key for key in HEADS if key in result]
    width = next((result[key] for key in WIDTH if key in result), None)
    if modules is None:
        if not heads or width is None:
            raise InputError(
                f"{where}: `--split` needs heads to divide, and there is no `{HEADS[0]}`",
                hint=f"leave out `--split`: divided are models of heads, and {', '.join(DIVISIONS)}",
            )
        if all(result.get(key) is None for key in HEAD_SIZES):
            result["head_dim"] = width // result[heads[0]]
    later = {*heads, *(number for one in modules.values() for number in one.numbers)} if modules else ()
    notes, divided = [], []
    for key in (*heads, *GROUPS, *INNER, *VOCABULARY):
        size = result.get(key)
        if not isinstance(size, int):
            continue
        if key in GROUPS and size < split and split % size == 0:
            result[key] = 1
            notes.append(f"`{key}` is {size}, so {split // size} devices hold a copy of each")
            continue
        if size % split:
            raise _refuse_share(where, key, size, split)
        if key not in later:
            result[key] = size // split
        divided.append(f"{key} {size} to {size // split}")
    result.update({key: None for key in WORDS if key in result})
    notes.insert(0, f"one of {split} devices: {', '.join(divided)}; what devices exchange is not in the suite")
    if any(key in result for key in ("num_local_experts", "num_experts", "n_routed_experts")):
        notes.append("each device holds a part of every expert")
    notes += [f"each device has of {name}: {division.text}" for name, division in (modules or {}).items()]
    return result, notes


def _refuse_share(where: str, key: str, size: int, split: int) -> InputError:
    hint = "`--split` a divisor of it"
    if key in VOCABULARY:
        hint += f', or pad it, as servers do: write `"{key}": {size + -size % split}`'
    return InputError(f"{where}: `{key}` is {size}, which {split} devices cannot share", hint=hint)


def _one_layer(configuration: JsonObject) -> JsonDict:
    """Return the configuration with one layer where there are several."""
    result: JsonDict = {**configuration, **{key: 1 for key in DEPTH if isinstance(configuration.get(key), int)}}
    for key in ("layer_types", "mlp_layer_types"):
        if isinstance(result.get(key), list):
            result[key] = result[key][:1]
    return result


def usage_of(phase: str, batch: int, context: int, dtype: str | None, split: int, layers: str) -> Usage:
    """Return how a model is called, as a user writes it; raises `InputError` for a wrong value."""
    for option, value, choices in (("--phase", phase, PHASES), ("--layers", layers, LAYERS)):
        if value not in choices:
            raise InputError(f"`{option} {value}`: expected {' or '.join(choices)}")
    for option, number in (("--batch", batch), ("--context", context), ("--split", split)):
        if not 1 <= number <= LARGEST:
            raise InputError(f"`{option} {number}`: expected a whole number from 1 to {LARGEST:,}")
    return Usage(phase, batch, context, None if dtype is None else parse_dtype(dtype), split, layers)
