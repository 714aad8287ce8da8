"""The candidates that the judge is held against: what each does, and which verdicts are right.

`WAYS` are cheats and mistakes, one file each in `cheats/`; the numbers are those of the table of ways. None may ever be
`faster`. `HONEST` are controls in `honest/`, of which none may be refused. Every file can be judged alone:

    opperf judge tests/judge/cheats/by_address.py:f --against tests/judge/references/softmax.py:f --framework numpy \
        --input x=256x1024
"""

from __future__ import annotations

from pathlib import Path

from opperf.domain.dataclass import dataclass

HERE = Path(__file__).parent

#: What the judge may say of a candidate that computes something else than the reference, or pretends to.
REFUSED = ("wrong", "cheats", "impossible")
#: And of one that computes what the reference does, whatever else it tries.
NOT_FASTER = ("same", "slower", "inconclusive", *REFUSED)
#: And of an honest one as fast as the reference: noise may leave it open.
SAME = ("same", "inconclusive")
#: And of an honest one of which nobody knows how fast it is on this machine.
RIGHT = ("faster", "same", "slower", "inconclusive")

#: What a naive judge falls for: `faster` (it is called right, and 1.5 times as fast as the reference or more), `right`
#: (it is called right), `status` (its process ends with success, and says nothing), `attack` (a test of its own).
FOOLS = ("faster", "right", "status", "attack")

#: Words for why a candidate is refused, and what each says.
CAUSES = {
    "replays": "results of other inputs come back",
    "unwritten": "elements are as the memory was before",
    "computes_a_part": "some elements are right, in a pattern",
    "small_sizes_only": "right where it is small, wrong at the size that is timed",
    "listed_sizes_only": "right at the size that is timed, wrong at its neighbours, or refused there",
    "copies_an_input": "the result is one of the inputs",
    "first_calls_only": "right in the first calls, and not in later ones",
    "works_after_return": "the result arrives after the return, or processor time passes then",
    "extra_cpu": "more processors were used than the side has",
    "other_shape": "the result has another shape",
    "other_type": "the result has another element type, or is no plain array",
    "outputs_share_memory": "a later call changes the result of an earlier one, or a result lies in an input",
    "precision": "all elements are near, and further off than the reference's own error",
    "values_only": "right for some values and wrong for others: large, clustered, constant, cancelling",
    "changes_inputs": "it writes to its inputs, and does not declare it",
    "exits": "its process ended before the protocol did",
    "load": "it raises while it is loaded",
    "fails": "it raises when it is called, or its process dies",
    "timeout": "it did not return in time",
    "forged_messages": "its process said what is no answer, or said it too early",
    "forbidden": "the room refused it something: a file, a process, a network, memory",
    "disturbs": "the reference was slower beside it than alone",
    "too_fast": "less time than the bytes and operations take",
    "other_problem": "it did not take the parameters of the problem",
    "wrong_values": "elements are wrong, and no word above says why",
}


@dataclass(frozen=True)
class Way:
    """A candidate, what it is judged against, and what the judge should say."""

    #: The file's name without `.py`.
    name: str
    #: The number in the table of ways; 0 for honest ones.
    number: int = 0
    #: The file in `references/`.
    reference: str = "softmax"
    inputs: tuple[str, ...] = ("x=256x1024",)
    verdicts: tuple[str, ...] = REFUSED
    #: One of them is to be in the evidence where the verdict refuses it.
    causes: tuple[str, ...] = ()
    fools: str = "faster"
    #: Further options of the naive judge, and of `opperf judge`.
    naive: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    framework: str = "numpy"
    #: Where the framework and what the candidate imports beside it are installed, if not where they usually are.
    environment: str = ""
    #: Programs without which it does not run, and processors: `gcc`, `x86_64`.
    needs: tuple[str, ...] = ()
    #: Where the file lies that is of neither folder.
    folder: Path | None = None

    @property
    def path(self) -> Path:
        """The candidate's file."""
        return (self.folder or HERE / ("cheats" if self.number else "honest")) / f"{self.name}.py"

    @property
    def against(self) -> Path:
        """The reference's file."""
        return HERE / "references" / f"{self.reference}.py"


LOOSE = ("--tolerance", "1e-2")
SMALL_CHECK = ("--check-input", "x=32x1024")
POSITIVE = ("--values", "uniform")
EVEN = (*POSITIVE, *LOOSE)
LATE = ("works_after_return", "unwritten", "replays")
#: On a busy machine a thread may be done in time where calls are few; of many it skips some.
LATE_OR_NEVER = (*LATE, "first_calls_only")
MATRICES = ("a=256x256", "b=256x256")
DEQUANTIZED = ("a=4x1024", "weights=1024x1024:int8", "scale=1024")
#: A disturbance that the room prevents leaves an honest candidate.
DISTURBS = ("disturbs", "extra_cpu", "works_after_return", "forbidden", "fails", "load", "timeout")
TORCH = "torch"

REPLAYS = (
    Way("by_id", 19, causes=("replays",)),
    Way("views_by_id", 19, causes=("replays",), fools="right"),
    Way("by_address", 20, causes=("replays",)),
    Way("by_hash_of_elements", 22, causes=("replays",), verdicts=NOT_FASTER),
    Way("by_sum", 22, causes=("replays",), verdicts=NOT_FASTER),
    Way("by_content", 22, causes=("replays",), verdicts=NOT_FASTER, fools="right"),
    Way("last_result", 23, causes=("replays",)),
    Way("by_position", 23, causes=("replays", "first_calls_only")),
    Way("changed_rows_only", 23, causes=("replays",), verdicts=NOT_FASTER),
    Way("rows_by_first_elements", 23, causes=("replays", "values_only"), verdicts=NOT_FASTER),
    Way(
        "from_shared_memory",
        24,
        causes=("replays", "forbidden", "fails", "load", "timeout"),
        verdicts=NOT_FASTER,
    ),
    Way("from_files", 24, causes=("replays", "forbidden", "fails", "load", "timeout")),
    Way("from_the_network", 24, causes=("replays", "forbidden"), verdicts=NOT_FASTER, fools="attack"),
    Way("dequantized_once", 26, "dequantized_product", DEQUANTIZED, causes=("replays",)),
    Way("known_seeds", 27, causes=("replays",), verdicts=NOT_FASTER),
    Way("imports_the_reference", 28, causes=("replays", "forbidden", "fails", "load", "timeout")),
    Way(
        "reads_the_parents_arguments",
        28,
        causes=("replays", "forbidden", "fails", "load", "timeout"),
        fools="attack",
    ),
    Way("returns_at_once", 9, causes=("replays", "too_fast", "outputs_share_memory")),
    Way("obfuscated", 54, causes=("replays",)),
)

RECOGNIZING = (
    Way("by_stack", 29, causes=("unwritten", "replays", "computes_a_part")),
    Way("by_arguments", 29, causes=("unwritten", "replays"), verdicts=NOT_FASTER),
    Way("by_environment", 29, causes=("unwritten", "replays"), verdicts=NOT_FASTER),
    Way("first_40_calls_only", 30, causes=("first_calls_only", "unwritten", "replays")),
    Way("first_100_calls_only", 30, causes=("first_calls_only", "replays"), verdicts=NOT_FASTER),
    Way("one_call_in_three", 30, causes=("replays", "outputs_share_memory")),
    Way("sleeps_in_warm_up", 30, causes=("first_calls_only", "unwritten", "replays")),
    Way("last_call_of_a_loop", 30, causes=("replays", "outputs_share_memory"), verdicts=NOT_FASTER),
    Way("first_elements_only", 31, causes=("small_sizes_only", "computes_a_part", "unwritten"), naive=SMALL_CHECK),
    Way("first_rows_only", 31, causes=("small_sizes_only", "computes_a_part"), naive=SMALL_CHECK),
    Way("every_fourth_row", 31, causes=("small_sizes_only", "computes_a_part"), naive=SMALL_CHECK),
    Way("silent_failure", 52, causes=("small_sizes_only", "unwritten", "replays"), naive=SMALL_CHECK),
)

APPROXIMATING = (
    Way(
        "small_values_only",
        32,
        "sinh",
        ("x=256x1024:range=-0.4..0.4",),
        causes=("precision", "values_only"),
        fools="right",
        naive=("--scale", "0.1", "--tolerance", "1e-3"),
    ),
    Way(
        "first_order",
        32,
        "sinh",
        ("x=256x1024:range=-0.4..0.4",),
        causes=("precision", "values_only", "copies_an_input"),
        naive=("--scale", "0.05", *LOOSE),
    ),
    Way("assumes_normal_values", 34, "largest", ("x=16x8192:normal",), causes=("values_only", "computes_a_part")),
    Way(
        "assumes_balance",
        34,
        "largest",
        ("x=16x8192:normal",),
        # Three of a hundred plain draws are clustered enough to be wrong too: then nothing tells them from others.
        causes=("values_only", "computes_a_part", "wrong_values"),
        fools="right",
    ),
    Way("no_shift", 34, causes=("values_only",), fools="right"),
    Way("short_series", 34, causes=("values_only",), fools="right", naive=POSITIVE),
    Way(
        "flushes_denormals", 34, "halves", ("x=256x1024:denormal",), causes=("values_only", "precision"), fools="right"
    ),
    Way(
        "forgets_infinities",
        34,
        "halves",
        ("x=256x1024:range=-1000..1000",),
        causes=("values_only", "wrong_values"),
        fools="right",
    ),
    Way(
        "listed_shapes",
        35,
        causes=("small_sizes_only", "listed_sizes_only", "wrong_values", "computes_a_part", "precision"),
        naive=EVEN,
    ),
    Way("crashes_beside_it", 35, causes=("listed_sizes_only", "fails"), verdicts=SAME, fools="right"),
    Way("multiples_of_64", 35, causes=("listed_sizes_only", "computes_a_part"), fools="right"),
    Way("copies_normalized", 36, "layer_norm", ("x=16x65536",), causes=("values_only", "copies_an_input"), naive=LOOSE),
    Way(
        "returns_its_input",
        36,
        "magnitude",
        causes=("values_only", "outputs_share_memory", "copies_an_input"),
        naive=POSITIVE,
    ),
    Way("constant_mean", 37, "mean_of_softmax", verdicts=("void",)),
    Way("zeros", 37, causes=("wrong_values", "too_fast", "precision"), naive=EVEN),
    Way("zero_mean", 37, "row_mean", ("x=8x262144",), causes=("wrong_values", "too_fast", "precision"), naive=LOOSE),
    Way("half_sum", 38, "row_sum", causes=("precision",), fools="right", naive=EVEN),
    Way("bfloat16_product", 38, "product", MATRICES, causes=("precision",), fools="right", naive=EVEN),
    Way(
        "single_for_double",
        38,
        "product",
        ("a=512x512:float64", "b=512x512:float64"),
        causes=("precision",),
        naive=("--tolerance", "1e-3"),
        fools="right",
    ),
    Way(
        "ninety_nine_of_a_hundred",
        39,
        "row_sum",
        causes=("computes_a_part", "values_only", "precision", "wrong_values"),
        fools="right",
        naive=EVEN,
    ),
    Way(
        "one_in_eight",
        39,
        "row_sum",
        ("x=8x131072",),
        causes=("computes_a_part", "values_only", "precision", "wrong_values"),
        naive=EVEN,
    ),
    Way("another_type", 38, causes=("other_type", "precision"), fools="right", naive=LOOSE),
    Way("another_shape", 37, causes=("other_shape",), naive=EVEN),
    Way("a_number", 37, causes=("other_shape", "other_type"), naive=EVEN),
    Way("stretched", 37, causes=("wrong_values", "too_fast", "precision", "outputs_share_memory"), naive=EVEN),
    Way("not_a_number", 12, causes=("wrong_values", "too_fast"), naive=("--compare", "difference")),
)

WORKING_ELSEWHERE = (
    Way("thread_after_return", 2, causes=LATE_OR_NEVER),
    Way("timer_after_return", 2, causes=LATE),
    Way("view_filled_later", 2, causes=(*LATE, "outputs_share_memory")),
    Way(
        "process_after_return",
        2,
        causes=(*LATE, "outputs_share_memory", "forbidden", "fails", "load", "timeout"),
    ),
    Way("native_thread", 3, causes=LATE_OR_NEVER),
    Way("second_thread", 3, causes=("extra_cpu", "works_after_return"), verdicts=NOT_FASTER, fools="attack"),
    Way(
        "second_process",
        4,
        causes=("extra_cpu", "forbidden", "fails", "load", "timeout"),
        verdicts=NOT_FASTER,
        fools="attack",
    ),
    Way(
        "pipelined_process",
        4,
        # On a busy machine the result may be there in part when everything is frozen.
        causes=("replays", "extra_cpu", "forbidden", "fails", "load", "timeout", "computes_a_part"),
    ),
    Way("hidden_work", 4, causes=("replays", "extra_cpu", "works_after_return")),
    Way("computes_the_turn", 4, inputs=("x=4x32",), verdicts=NOT_FASTER, fools="right"),
    Way("woken_by_a_timer", 4, causes=("works_after_return",), verdicts=NOT_FASTER, fools="right"),
    Way("lazy_subclass", 5, causes=("other_type", "unwritten", "replays")),
    Way("lazy_interface", 5, causes=("other_type", "other_shape")),
    Way("lazy_tensor", 5, "torch_softmax", causes=("other_type", "outputs_share_memory"), framework=TORCH),
    Way("repeated_by_strides", 5, "row_maxima", causes=("outputs_share_memory",)),
    Way(
        "overridden_methods",
        6,
        causes=("other_type", "outputs_share_memory", "wrong_values"),
        naive=("--compare", "difference"),
    ),
    Way(
        "tensor_with_methods",
        6,
        "torch_softmax",
        causes=("other_type", "outputs_share_memory", "wrong_values"),
        framework=TORCH,
    ),
)

PATCHING = (
    Way("patches_the_clock", 8, verdicts=NOT_FASTER),
    Way("patches_processor_time", 8, verdicts=NOT_FASTER, naive=("--clock", "process_time")),
    Way(
        "preloads_a_clock",
        8,
        verdicts=NOT_FASTER,
        causes=("exits", "forged_messages", "fails", "load", "timeout"),
        needs=("gcc",),
    ),
    Way(
        "patches_the_system_clock",
        43,
        verdicts=NOT_FASTER,
        causes=("fails", "load", "timeout"),
        needs=("x86_64",),
    ),
    Way("patches_statistics", 9, verdicts=NOT_FASTER),
    Way("patches_the_checks", 10, causes=("unwritten", "replays")),
    Way("patches_the_harness", 11, causes=("unwritten", "replays", "forged_messages")),
    Way("patches_the_stand", 11, causes=("replays", "forged_messages", "outputs_share_memory")),
    Way("expected_by_frames", 11, causes=("unwritten", "replays")),
    Way("expected_by_collector", 13, causes=("unwritten", "replays")),
    Way("expected_overwritten", 12, causes=("wrong_values", "too_fast", "unwritten")),
    Way("scans_its_memory", 42, causes=("unwritten", "replays", "fails", "load", "timeout")),
    Way("freed_result", 14, inputs=("x=4x32",), causes=("unwritten", "replays", "too_fast"), naive=("--wide",)),
    Way("one_element", 15, causes=("computes_a_part", "wrong_values", "precision"), naive=EVEN),
    Way(
        "inputs_zeroed",
        16,
        causes=("changes_inputs", "fails", "load", "timeout"),
        naive=("--first", "candidate"),
    ),
    Way(
        "inputs_zeroed_by_address",
        16,
        causes=("changes_inputs", "fails", "load", "timeout"),
        naive=("--first", "candidate"),
    ),
    Way("in_place", 16, causes=("changes_inputs", "fails", "load", "timeout"), fools="right"),
    Way("static_buffer", 18, causes=("outputs_share_memory",), fools="right"),
    Way("buffers_in_turn", 18, causes=("outputs_share_memory",), fools="right"),
    Way("view_of_its_input", 18, "flipped", causes=("outputs_share_memory",)),
)

ATTACKING = (
    Way("forged_report", 40, causes=("exits", "forged_messages")),
    Way("exits", 40, causes=("exits", "fails", "load", "timeout"), fools="status"),
    Way("exits_at_once", 40, causes=("exits",), fools="status"),
    Way("exits_after_it", 40, causes=("exits", "forged_messages"), fools="status"),
    Way("exits_when_loaded", 40, causes=("exits",), fools="status"),
    Way("forged_done", 40, causes=("forged_messages", "replays", "works_after_return"), fools="attack"),
    Way(
        "answers_early",
        40,
        inputs=("x=512x2048",),
        verdicts=NOT_FASTER,
        causes=("works_after_return", "forged_messages", "unwritten", "replays"),
        fools="right",
    ),
    Way("forged_pickle", 44, verdicts=NOT_FASTER, causes=("forged_messages",), fools="attack"),
    Way("huge_message", 44, causes=("forged_messages", "outputs_share_memory", "wrong_values"), fools="attack"),
    Way("stops_the_parent", 44, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("writes_to_the_parent", 44, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("writes_by_process_vm", 44, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("stops_the_sibling", 44, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("slows_the_sibling", 45, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("spinning_thread", 45, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("spinning_processes", 45, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("fills_the_caches", 45, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("takes_memory", 45, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("many_processes", 45, verdicts=NOT_FASTER, causes=DISTURBS, fools="attack"),
    Way("shadows_a_module", 47, verdicts=NOT_FASTER, causes=("forbidden",), fools="attack"),
    Way("edits_the_judge", 47, causes=("unwritten", "replays", "forbidden"), fools="attack"),
    Way("edits_itself", 47, causes=("replays", "outputs_share_memory", "forbidden")),
    Way("edits_the_tolerance", 47, causes=("unwritten", "replays", "forbidden"), fools="attack"),
)

BORROWING = (
    Way("calls_the_library", 48, verdicts=SAME, fools="right"),
    Way("falls_back", 48, verdicts=SAME, fools="right"),
    Way("decoy", 49, verdicts=SAME, fools="right"),
    Way(
        "kernelbench_fewer_layers",
        55,
        "kernelbench_layers",
        (),
        causes=("other_problem", "wrong_values", "precision"),
        naive=LOOSE,
        framework=TORCH,
    ),
    Way("kernelbench_smaller_batch", 55, "kernelbench_layers", (), verdicts=NOT_FASTER, framework=TORCH),
    Way(
        "kernelbench_missing_bias",
        56,
        "kernelbench_layers",
        (),
        causes=("other_problem", "wrong_values", "fails", "load", "timeout"),
        fools="right",
        framework=TORCH,
    ),
)

WAYS = (*REPLAYS, *RECOGNIZING, *APPROXIMATING, *WORKING_ELSEWHERE, *PATCHING, *ATTACKING, *BORROWING)

HONEST = (
    Way("fast", reference="softmax_rows", verdicts=("faster",)),
    Way("slow", verdicts=("slower",), fools="right"),
    Way("workspace", verdicts=RIGHT, fools="right"),
    Way("lazy_tables", verdicts=RIGHT, fools="right"),
    Way("own_pool", verdicts=RIGHT, options=("--threads", "2"), fools="right"),
    Way("in_place", reference="doubled", verdicts=RIGHT, fools="right"),
    Way("fallback", verdicts=RIGHT, fools="right"),
    Way(
        "packed_weights",
        reference="dequantized_product",
        inputs=DEQUANTIZED,
        verdicts=("faster",),
        options=("--constant", "weights", "--constant", "scale"),
    ),
    Way("compiled_by_numba", verdicts=RIGHT, fools="right", environment="numpy==2.2.6 + numba==0.62.1"),
    Way("c_extension", verdicts=RIGHT, fools="right", needs=("gcc",)),
    Way(
        "compiled_by_torch",
        reference="torch_softmax",
        verdicts=RIGHT,
        fools="right",
        framework=TORCH,
        needs=("gcc",),
    ),
    Way("generator", verdicts=RIGHT, fools="right"),
    Way("closure", verdicts=SAME, fools="right"),
    Way("double_inside", verdicts=("slower",), fools="right"),
    Way("by_blocks", verdicts=RIGHT, fools="right"),
    Way("column_order", verdicts=RIGHT, fools="right"),
    Way("view_of_new_memory", verdicts=RIGHT, fools="right"),
    Way("prints", verdicts=SAME, fools="right"),
    Way("many_imports", verdicts=SAME, fools="right"),
    Way("reads_the_clock", verdicts=RIGHT, fools="right"),
    Way("idle_thread", verdicts=SAME, fools="right"),
    Way("temporary_files", verdicts=RIGHT, fools="right"),
    Way("only_its_size", verdicts=SAME, fools="right"),
    Way(
        "conjugated_lazily",
        reference="conjugated",
        inputs=("x=64x64:complex64",),
        verdicts=RIGHT,
        fools="right",
        framework=TORCH,
    ),
    Way("asks_for_leave_to_write", verdicts=RIGHT, fools="right"),
)


def example(
    name: str, *verdicts: str, causes: tuple[str, ...] = (), fools: str = "right", naive: tuple[str, ...] = ()
) -> Way:
    """Return what is expected of one of the examples for users, which are softmax on PyTorch."""
    return Way(
        name,
        reference="torch_softmax",
        inputs=("x=1024x1024",),
        verdicts=verdicts,
        causes=causes,
        fools=fools,
        naive=naive,
        framework=TORCH,
        needs=("gcc",) if name == "right_and_fast" else (),
        folder=HERE.parents[1] / "examples" / "judge",
    )


EXAMPLES = (
    example("by_address", *REFUSED, causes=("replays",), fools="faster"),
    example(
        "small_only",
        *REFUSED,
        causes=("small_sizes_only", "computes_a_part", "unwritten"),
        fools="faster",
        naive=("--check-input", "x=64x1024"),
    ),
    example(
        "first_calls_only", *REFUSED, causes=("first_calls_only", "replays", "outputs_share_memory"), fools="faster"
    ),
    example("overwrites_its_input", *REFUSED, causes=("changes_inputs", "fails")),
    example("answers_later", *REFUSED, causes=LATE_OR_NEVER, fools="faster"),
    example("two_threads", *NOT_FASTER, causes=("extra_cpu",)),
    example("in_bfloat16", *REFUSED, causes=("precision",), naive=LOOSE),
    example("patches_the_clock", *NOT_FASTER, fools="faster"),
    example("right_and_fast", "faster"),
    example("right_and_slow", "slower"),
)
