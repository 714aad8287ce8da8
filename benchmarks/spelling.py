"""Draw cases of every operator of the catalog, print each, read what was printed, and count those that differ.

python benchmarks/spelling.py --cases 2000
"""

from __future__ import annotations

import argparse

from opperf.catalog import catalog
from opperf.catalog.valid_values import restrict
from opperf.domain.errors import InputError
from opperf.parent.reports.text import case_text, usual_arguments
from opperf.parent.sources.argument_text import argument_words
from opperf.parent.sources.random_cases import random_cases
from opperf.parent.sources.user_inputs import case_with

DTYPES = ("float32", "float64", "float16", "bfloat16", "int32")


def main() -> None:
    """Print how many cases were drawn, and each that is not read back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    each = -(-options.cases // len(catalog()))
    count = bad = 0
    for place, (name, definition) in enumerate(catalog().items()):
        for number, drawn in enumerate(random_cases(definition, each, options.seed)):
            case = restrict(drawn.with_dtype(DTYPES[(place + number) % len(DTYPES)]))
            count += 1
            try:
                same = case_with(definition, argument_words(case, usual_arguments(case))).id == case.id
            except InputError as error:
                print(f"{name}: {error}")
                same = False
            if not same:
                bad += 1
                print(f"{name}: {case_text(case)}")
    print(f"{count} cases of {len(catalog())} operators printed and pasted: {bad} differ")


if __name__ == "__main__":
    main()
