"""The functions of the library: each takes its command's options as keywords and returns an object.

Your own function can be used wherever a name can. Durations are seconds and shares fractions of 1, or texts as on the
command line (`"5m"`, `"2%"`). Nothing is printed unless `progress=True`, which reports on stderr. Errors are those of
`opperf.OpperfError`, an operator that fails is a record.
"""
