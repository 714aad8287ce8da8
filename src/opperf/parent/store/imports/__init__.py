"""Results of other tools as runs: absolute times, labelled so."""
