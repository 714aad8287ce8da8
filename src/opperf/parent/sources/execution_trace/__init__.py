"""PyTorch execution traces: what a model ran, as cases.

`node` reads what a file holds, one node at a time; `schema` the signatures in it; `elements` the whole numbers that lie
in files next to it; `argument` makes arguments of records; `reading` finds the operators that a program called
itself and counts equal calls; `kineto` reads how long calls took, and `durations` finds
those of a trace among them. A Kineto trace alone is read by `kineto_nodes`, which makes nodes of its calls, and
`overload`, which finds the overload of each.
"""
