"""Keras's layers on TensorFlow, JAX and PyTorch: built for the inputs of a case, at the paths that users write.

The same layer has the same weights in each framework. What Keras draws at random differs from one to the next, and is
drawn again as inputs are; what it draws is what two seeds make different.

A path may come from a file, so it reaches only the layers that Keras itself defines and that compute by themselves:
none that wraps another layer, takes a function, or opens a file.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from math import prod, sqrt
from types import ModuleType
from typing import Any

from opperf.child.backends.naming import notation
from opperf.child.backends.naming.notation import Rule
from opperf.child.backends.naming.paths import Refusal
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import FirstCall, Layer
from opperf.domain.case import Case
from opperf.domain.registry import BUILD_PREFIX, LAYER_LIBRARIES
from opperf.domain.tensor import TensorSpec

HOME, PREFIX = "keras.src.layers.", "keras.layers."
#: What computes nothing by itself: what others derive from, and what is made of layers, functions, text or files.
LEFT_OUT = frozenset(
    {
        "Bidirectional", "FlaxLayer", "HashedCrossing", "Hashing", "InputLayer", "IntegerLookup", "JaxLayer", "Lambda",
        "Layer", "MaxNumBoundingBoxes", "Pipeline", "RNN", "SpectralNormalization", "StackedRNNCells", "StringLookup",
        "TFSMLayer", "TextVectorization", "TimeDistributed", "TorchModuleWrapper", "Wrapper",
    }
)  # fmt: skip


def facts() -> dict[str, str]:
    """Return the version of Keras, which is not imported for that; nothing where it is not installed."""
    try:
        return {"keras": version("keras")}
    except PackageNotFoundError:
        return {}


def is_layer(path: str) -> bool:
    """Whether a path leads to Keras."""
    return path.startswith("keras.")


def paths() -> list[str]:
    """Return the path of every layer, one for those with several names; none where Keras is not installed."""
    if find_spec("keras") is None:
        return []
    classes = {PREFIX + name: _layer_class(PREFIX + name) for name in dir(_keras().layers)}
    own = {layer: path for path, layer in classes.items() if layer is not None}
    own |= {layer: path for path, layer in classes.items() if layer in own and path == PREFIX + layer.__name__}
    return sorted(own.values())


def names() -> list[str]:
    """Return the paths where Keras has been imported, which takes seconds."""
    return paths() if _keras.cache_info().currsize else []


def resolve(path: str) -> Callable[..., Any]:
    """Return how the layer at a path is called, without the layer itself; raises `LookupError`, or `Refusal`."""
    layer = _layer_class(path)
    if layer is None:
        if path.removeprefix(PREFIX) in LEFT_OUT:
            raise Refusal(path, "it takes a function or text, is made of other layers, or reads files")
        raise LookupError(path)
    return partial(layer.call, None)


def builds(path: str) -> Sequence[str]:
    """Return the names of what a layer is built with; none for another path."""
    layer = _layer_class(path) if is_layer(path) else None
    if layer is None:
        return ()
    parameters = inspect.signature(layer).parameters.values()
    return (*(one.name for one in parameters if one.kind is not one.VAR_KEYWORD), "dtype")


def layer(
    backend: Backend, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None
) -> Layer:
    """Return a layer that holds its weights."""
    result = _build(backend, path, arguments, keywords, call)
    return Layer(result, tuple(weight.value for weight in result.trainable_variables))


def pure_layer(
    backend: Backend, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None
) -> Layer:
    """Return a layer as a function of its inputs and, behind them, its weights and the rest of its state.

    It returns the state that it changes beside its outputs, since a compiler would leave out what only that needs.
    """
    result = _build(backend, path, arguments, keywords, call)
    weights, rest = result.trainable_variables, result.non_trainable_variables
    trained, state = ([variable.value for variable in several] for several in (weights, rest))

    def function(*values: Any, **options: Any) -> Any:
        *inputs, trained, before = values
        # As `stateless_call`, which leaves out what a layer does around its computation, as to convert its inputs.
        with _keras().StatelessScope([*zip(weights, trained), *zip(rest, before)]) as scope:
            outputs = result(*inputs, **options)
        after = [scope.get_current_value(variable) for variable in rest]
        changed = [new for new, old in zip(after, before, strict=True) if new is not old]
        stop_gradient = _keras().ops.stop_gradient
        return (outputs, [stop_gradient(value) for value in changed]) if changed else outputs

    return Layer(function, tuple(trained), (trained, state))


def _build(
    backend: Backend, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None
) -> Any:
    """Return a layer that has been called once, as it is used outside of training."""
    make = _layer_class(path)
    if make is None:
        raise Unsupported(f"Keras has no layer `{path}`", slug="no_such_operator")
    if call is None:
        raise Unsupported(f"`{path}` is built for the inputs of a call", slug="no_length", hint="run it by its name")
    specs = [backend.spec(tensor) for tensor in backend.leaves([list(call.arguments), dict(call.keywords)])]
    dtypes = [spec.dtype for spec in specs if spec.is_float]
    settings = {**({"dtype": dtypes[0]} if dtypes else {}), **keywords}  # it casts its inputs otherwise
    outside = {name: value for name, value in call.keywords.items() if name != "training"}

    def build(seed: int) -> Any:
        _keras().utils.set_random_seed(seed)
        layer = make(*arguments, **settings)
        layer(*call.arguments, **outside)
        return layer

    result = build(0)
    if result.weights:
        for place, (weight, other) in enumerate(zip(result.weights, build(1).weights, strict=True)):
            values, others = (_keras().ops.convert_to_numpy(one) for one in (weight, other))
            if (values != others).any():
                limit = _limit(weight.shape)
                weight.assign(call.draw(TensorSpec(tuple(weight.shape), weight.dtype, range=(-limit, limit)), place))
    return result


def _limit(shape: Sequence[int]) -> float:
    """Return the bound of weights as Glorot and Bengio choose it, which Keras does by itself too."""
    *window, into, out = (1, *shape) if len(shape) == 1 else shape
    return sqrt(6 / (prod(window) * (into + out)))


def _layer_class(path: str) -> Any:
    """Return the class at a path, None where that is no layer that computes."""
    name = path.removeprefix(PREFIX)
    layer = getattr(_keras().layers, name, None) if path.startswith(PREFIX) and name.isidentifier() else None
    if not inspect.isclass(layer) or not issubclass(layer, _keras().Layer) or layer.__name__ in LEFT_OUT:
        return None
    return layer if layer.__module__.startswith(HOME) else None


@cache
def _keras() -> ModuleType:
    """Return Keras, imported once for the framework of this process; raises `Unsupported` where it is missing."""
    try:
        return import_module("keras")
    except ImportError as error:
        raise Unsupported(
            f"it needs Keras, which does not import here: {error}",
            slug="no_package",
            hint=f"install it there, or name an environment with it: `--environment '{os.environ[BACKEND]} + keras'`",
        ) from error


#: What Keras reads when it is imported: its framework, PyTorch's device, and the folder of its file of settings.
BACKEND, DEVICE, FOLDER = LAYER_LIBRARIES["keras"].variable, "KERAS_TORCH_DEVICE", "KERAS_HOME"


def configure(framework: str, device: str) -> None:
    """Set what Keras reads if it is imported; a file of the user's settings is neither read nor made."""
    os.environ.update({BACKEND: framework, DEVICE: device, FOLDER: os.devnull})


def examples(path: str, size: str) -> list[Case]:
    """Return the case of a layer at a size, by its rule or by what most take; none for a size without rules."""
    if size not in notation.SIDES:
        return []
    name, side = path.removeprefix(PREFIX), notation.SIDES[size]
    arrays, attributes = RULES.get(name, ("inputs: n,n", {}))
    return [Case(f"keras:layers.{name}", notation.inputs(arrays, side), notation.attributes(attributes, side))]


def rule(arrays: str, *, training: bool = False, **settings: Any) -> Rule:
    """Return the rule of a layer that is built with what is given; `training` for one that does something else then."""
    return arrays, {
        **{BUILD_PREFIX + name: value for name, value in settings.items()},
        **({"training": True} if training else {}),
    }


ROWS, PLANES, BOXES = "inputs: 4,n,8", "inputs: 2,n,n,8", "inputs: 1,8,n,n,8"
IMAGES, CODES, SOUND = "data: 2,n,n,3 0..255", "inputs: n,8 int32 0..16", "inputs: 4,nn,1"
PAIR, ATTENDED = "inputs: [n,n; n,n]", "query: 4,n,32 | value: 4,n,32"
RECURRENT: Mapping[str, Any] = {"units": lambda side: side}
TABLE: Mapping[str, Any] = {"input_dim": 16, "output_dim": lambda side: side}


def windows(name: str, **settings: Any) -> dict[str, Rule]:
    """Return the rules of a layer over one, two and three dimensions; `{}` in its name is for their number."""
    return {name.format(n): rule(arrays, **settings) for n, arrays in enumerate((ROWS, PLANES, BOXES), 1)}


def images(*names: str, **settings: Any) -> dict[str, Rule]:
    """Return one rule for layers that change images."""
    return dict.fromkeys(names, rule(IMAGES, **settings))


RULES: Mapping[str, Rule] = {
    "Activation": rule("inputs: n,n", activation="relu"),
    "EinsumDense": rule("inputs: n,n", equation="ab,bc->ac", output_shape=lambda side: side),
    "Dense": rule("inputs: n,n", **RECURRENT),
    "Embedding": rule(CODES, **TABLE),
    "ReversibleEmbedding": rule(CODES, **TABLE),
    "CategoryEncoding": rule(CODES, num_tokens=16),
    "Discretization": rule("inputs: n,n fixed", bin_boundaries=(-0.5, 0.0, 0.5)),
    "Normalization": rule("inputs: n,n", mean=0.5, variance=2.0),
    "Rescaling": rule("inputs: n,n", scale=0.5),
    # Shapes -----------------------------------------------------------------------------------------------------------
    "Flatten": rule(ROWS),
    "Permute": rule(ROWS, dims=(2, 1)),
    "RepeatVector": rule("inputs: n,n", n=4),
    "Reshape": rule(ROWS, target_shape=lambda side: (8, side)),
    **windows("Cropping{}D", cropping=1),
    **windows("UpSampling{}D"),
    **windows("ZeroPadding{}D"),
    # Several inputs ---------------------------------------------------------------------------------------------------
    **dict.fromkeys(("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"), rule(PAIR)),
    "Dot": rule(PAIR, axes=1),
    "Attention": rule("inputs: [4,n,32; 4,n,32]"),
    "AdditiveAttention": rule("inputs: [1,n,32; 1,n,32]"),
    "MultiHeadAttention": rule(ATTENDED, num_heads=4, key_dim=8),
    "GroupQueryAttention": rule(ATTENDED, num_query_heads=4, num_key_value_heads=2, head_dim=8),
    # Windows ----------------------------------------------------------------------------------------------------------
    **windows("Conv{}D", filters=16, kernel_size=3, padding="same"),
    **windows("Conv{}DTranspose", filters=16, kernel_size=3, padding="same"),
    **windows("SeparableConv{}D", filters=16, kernel_size=3, padding="same"),
    **windows("DepthwiseConv{}D", kernel_size=3, padding="same"),
    **windows("MaxPooling{}D"),
    **windows("AveragePooling{}D", pool_size=2),
    **windows("GlobalMaxPooling{}D"),
    **windows("GlobalAveragePooling{}D"),
    **windows("AdaptiveMaxPooling{}D", output_size=4),
    **windows("AdaptiveAveragePooling{}D", output_size=4),
    # Norms, and what differs in training ------------------------------------------------------------------------------
    "BatchNormalization": rule(PLANES, training=True),
    "GroupNormalization": rule(PLANES, groups=2),
    "RMSNormalization": rule("x: n,n"),
    "GaussianNoise": rule("inputs: n,n", training=True, stddev=0.1),
    **dict.fromkeys(("AlphaDropout", "Dropout", "GaussianDropout"), rule("inputs: n,n", training=True, rate=0.5)),
    **windows("SpatialDropout{}D", training=True, rate=0.5),
    # Recurrent layers, and their cells --------------------------------------------------------------------------------
    **dict.fromkeys(("GRU", "LSTM", "SimpleRNN"), rule("sequences: 8,16,n", **RECURRENT)),
    "GRUCell": rule("inputs: 8,n | states: [8,n]", **RECURRENT),
    "LSTMCell": rule("inputs: 8,n | states: [8,n; 8,n]", **RECURRENT),
    "SimpleRNNCell": rule("sequence: 8,n | states: [8,n]", **RECURRENT),
    "ConvLSTM1D": rule("sequences: 2,4,n,8", filters=8, kernel_size=3, padding="same"),
    "ConvLSTM2D": rule("sequences: 1,4,n,n,4", filters=4, kernel_size=3, padding="same"),
    "ConvLSTM3D": rule("sequences: 1,2,8,n,n,2", filters=2, kernel_size=3, padding="same"),
    # Sound and images -------------------------------------------------------------------------------------------------
    "MelSpectrogram": rule("inputs: 4,nn", fft_length=64, sequence_stride=32, num_mel_bins=16),
    "STFTSpectrogram": rule(SOUND, frame_length=32, frame_step=16),
    **images("CenterCrop", "RandomCrop", "Resizing", height=4, width=4),
    **images(
        "AugMix", "AutoContrast", "ContrastLimitedAdaptiveHistogramEqualization", "Equalization", "RandAugment",
        "RandomColorJitter", "RandomElasticTransform", "RandomErasing", "RandomFlip", "RandomGaussianBlur",
        "RandomGrayscale", "RandomInvert", "RandomPerspective", "Solarization", "CutMix", "MixUp",
    ),
    **images(
        "RandomBrightness", "RandomColorDegeneration", "RandomContrast", "RandomHue", "RandomRotation",
        "RandomSaturation", "RandomSharpness", factor=0.5,
    ),
    **images("RandomPosterization", factor=4),
    **images("RandomShear", x_factor=0.2),
    **images("RandomTranslation", height_factor=0.2, width_factor=0.2),
    **images("RandomZoom", height_factor=0.2),
}  # fmt: skip
