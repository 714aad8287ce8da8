"""Builds a model by its configuration, with `transformers` or `diffusers`, and calls it in one of its phases.

A configuration is data: its names are looked up among the classes of these packages, none of its code is loaded, and
nothing is downloaded.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch

from opperf.child.backends.torch import denoising, selective_scan, tensor_parallel
from opperf.child.backends.torch.specs import DTYPES
from opperf.domain.errors import InputError, unknown
from opperf.domain.message.requests import Usage
from opperf.domain.tensor_parallel import DIVISIONS

Configuration: TypeAlias = Mapping[str, Any]
#: Samples of sound in a second, for models that hear them.
SAMPLES = 16_000
#: Sizes that matter, by the names that most configurations have; packages fill in what a file leaves out.
SIZES = ("vocab_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
#: What weights may be that every operator takes.
FLOATS = [name for name, dtype in DTYPES.items() if dtype.is_floating_point and dtype.itemsize > 1]
#: What packages raise for sizes that do not fit together.
WRONG_SIZES = (ValueError, TypeError, AttributeError, KeyError, ZeroDivisionError, AssertionError, RuntimeError)


def load(configuration: Configuration, usage: Usage, note: Callable[[str], None]) -> Callable[[], Any]:
    """Return a phase of a model as a function, to be followed by shapes alone; `note` takes what is assumed.

    Raises `InputError` for a model or phase that there is not.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    model = build(configuration, usage, note)
    with selective_scan.shortened(model, lambda text: None):  # words before the one to decode
        call = phase(model, usage, note)

    def step() -> None:
        with selective_scan.shortened(model, note):
            call()

    return step


def build(configuration: Configuration, usage: Usage, note: Callable[[str], None]) -> Any:
    """Return the model of a configuration, as one device has it; raises `InputError`."""
    is_denoising = "_class_name" in configuration
    name = configuration["_class_name"] if is_denoising else configuration["architectures"][0]
    make = _of_diffusers if is_denoising else _of_transformers
    dtype = str(usage.dtype or configuration.get("dtype") or configuration.get("torch_dtype") or "float32")
    if dtype not in FLOATS:
        raise InputError(f"no weights of `{dtype}`", hint=f"known: {', '.join(FLOATS)}; `--dtype bfloat16`")
    with _blamed_on_sizes(f"`{name}` cannot be built"), _default_dtype(DTYPES[dtype]):
        return make(configuration, usage, note)


@contextmanager
def _blamed_on_sizes(what: str) -> Iterator[None]:
    """Raise `InputError` for what packages raise of sizes that do not fit together."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        # `Strict...` is of a package that checks types, and is not imported here.
        if isinstance(error, WRONG_SIZES) or type(error).__name__.startswith("Strict"):
            raise InputError(f"{what}: {_headline(error)}", hint="look at the values in the file") from error
        raise


def phase(model: Any, usage: Usage, note: Callable[[str], None]) -> Callable[[], Any]:
    """Return a phase of a model as a function; raises `InputError` for one that it has not."""
    training = usage.phase == "train"
    model.train(training)
    with _blamed_on_sizes(f"`{type(model).__name__}` cannot be called"):
        inputs = _inputs(model, usage, note)
    if training:
        return _training(model, inputs, note)
    if usage.phase == "decode":
        return _decoding(model, inputs, usage)
    cache = {"use_cache": True} if _generates(model) else {}
    return lambda: _without_graph(model, **cache, **inputs)


def _of_diffusers(configuration: Configuration, usage: Usage, note: Callable[[str], None]) -> Any:
    name = configuration["_class_name"]
    if usage.phase == "decode" or usage.split > 1:
        raise InputError(f"`{name}` is neither divided nor decoded", hint="`--phase prefill` is one step of denoising")
    return denoising.build(configuration)


def _of_transformers(configuration: Configuration, usage: Usage, note: Callable[[str], None]) -> Any:
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    transformers.logging.set_verbosity_error()
    values = dict(configuration)
    kind, name = values.pop("model_type"), configuration["architectures"][0]
    if kind not in CONFIG_MAPPING:
        raise unknown("model_type", kind, list(CONFIG_MAPPING.keys()), hint=_newer("transformers", transformers))
    if usage.split > 1 and kind not in DIVISIONS and not hasattr(CONFIG_MAPPING[kind](), "head_dim"):
        raise InputError(
            f"`--split`: models of type `{kind}` derive the size of a head from the number of heads",
            hint=f"divided are models whose configuration has `head_dim`, and {', '.join(DIVISIONS)}",
        )
    cls: Any = getattr(transformers, name, None)
    if not _is_model(cls, transformers.PreTrainedModel):
        names = [own for own in dir(transformers) if own.startswith(name[:4])]
        raise unknown("architecture", name, names, hint=_newer("transformers", transformers))
    settings = CONFIG_MAPPING[kind](**values)
    sizes = {key: getattr(settings, key, None) for key in SIZES if settings.attribute_map.get(key, key) not in values}
    absent = [f"{key} {size}" for key, size in sizes.items() if isinstance(size, int)]
    if absent:
        note(f"not in the file, so as {transformers.__name__} has it: {', '.join(absent)}")
    if usage.split > 1 and (getattr(settings, "pad_token_id", None) or 0) >= getattr(settings, "vocab_size", math.inf):
        settings.pad_token_id = None  # a word that another device has
    model = cls._from_config(settings)
    if usage.split > 1:
        tensor_parallel.divide(model, DIVISIONS.get(kind, {}), usage.split)
    return model


def _is_model(value: Any, base: type) -> bool:
    return inspect.isclass(value) and issubclass(value, base)


def _newer(package: str, module: Any) -> str:
    return f"{package} {module.__version__} does not know it; name another with `--environment`"


def _headline(error: Exception) -> str:
    text = " ".join(str(error).split())
    return (f"no {text}" if isinstance(error, KeyError) else text or type(error).__name__)[:200]


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _generates(model: Any) -> bool:
    """Whether a model writes word by word, so that it has a cache to go on from."""
    name = type(model).__name__
    if name in denoising.INPUTS:
        return False
    return name.endswith(("ForCausalLM", "LMHeadModel")) or model.config.is_encoder_decoder


def _inputs(model: Any, usage: Usage, note: Callable[[str], None]) -> Mapping[str, Any]:
    """Return the inputs of a model: words, pictures or sound, and what it has written so far."""
    if type(model).__name__ in denoising.INPUTS:
        return denoising.inputs(model, usage.batch, next(model.parameters()).dtype, note)
    config, batch = model.config, usage.batch
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    words = getattr(text, "vocab_size", 1)
    parameter = next(model.parameters())
    most = getattr(text, "max_position_embeddings", None) or usage.context

    def written(length: int) -> torch.Tensor:
        return torch.randint(0, words, (batch, length))

    if model.main_input_name == "pixel_values":
        size = config.image_size
        edges = size if isinstance(size, (list, tuple)) else (size, size)
        return {"pixel_values": torch.rand(batch, config.num_channels, *edges, dtype=parameter.dtype)}
    if model.main_input_name == "input_features":
        frames = 2 * config.max_source_positions
        length = min(usage.context, config.max_target_positions)
        return {
            "input_features": torch.rand(batch, config.num_mel_bins, frames, dtype=parameter.dtype),
            "decoder_input_ids": written(length),
        }
    if model.main_input_name == "input_values":
        return {"input_values": torch.rand(batch, SAMPLES, dtype=parameter.dtype)}
    if model.main_input_name != "input_ids":
        raise InputError(
            f"`{type(model).__name__}` takes `{model.main_input_name}`, which opperf does not know",
            hint="write a function that calls it, and capture that with `--abstract`",
        )
    if usage.context > most and not hasattr(text, "rope_parameters"):
        raise InputError(f"`--context {usage.context}`: the model has {most} positions", hint=f"`--context {most}`")
    inputs = {"input_ids": written(usage.context)}
    return {**inputs, "decoder_input_ids": written(usage.context)} if config.is_encoder_decoder else inputs


def _without_graph(model: Any, **inputs: Any) -> Any:
    with torch.no_grad():
        return model(**inputs)


def _training(model: Any, inputs: Mapping[str, Any], note: Callable[[str], None]) -> Callable[[], Any]:
    """Return a forward, its backward, and a step of AdamW with PyTorch's defaults.

    The loss is the model's own where it has one of words, else a mean of squares.
    """
    words = inputs.get("decoder_input_ids", inputs.get("input_ids"))
    has_loss = words is not None and type(model).__name__.endswith(
        ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")
    )
    labels = {"labels": words} if has_loss else {}
    optimizer = torch.optim.AdamW(model.parameters())
    kind = next(model.parameters()).dtype
    note(
        f"AdamW as PyTorch has it by default: one parameter after the other on a CPU (`foreach` and `fused` are off), "
        f"with states of the parameters' {str(kind).removeprefix('torch.')}"
    )

    def step() -> None:
        optimizer.zero_grad()
        out = model(**inputs, **labels)
        (out["loss"] if labels else out[0].float().square().mean()).backward()
        optimizer.step()

    return step


def _decoding(model: Any, inputs: Mapping[str, Any], usage: Usage) -> Callable[[], Any]:
    """Return the writing of one word, behind as many as the context has: the first call writes the last of these."""
    if not _generates(model):
        raise InputError(
            f"`--phase decode`: `{type(model).__name__}` does not write word by word", hint="`--phase prefill`"
        )
    words = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    before = inputs[words].shape[1] - 1
    if before < 1:
        raise InputError("`--phase decode` needs a context of 2 words or more", hint="`--context 4096`")
    start = _without_graph(model, use_cache=True, **{**inputs, words: inputs[words][:, :before]})
    cache = next(key for key in ("past_key_values", "cache_params") if start.get(key) is not None)
    step = {words: inputs[words][:, :1], cache: start[cache]}
    if "encoder_last_hidden_state" in start:
        step["encoder_outputs"] = (start["encoder_last_hidden_state"],)
    return lambda: _without_graph(model, use_cache=True, **step)
