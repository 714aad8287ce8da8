"""PyTorch execution traces: what a model ran, as cases.

`node` reads what a file holds, one node at a time; `schema` the signatures in it; `argument` makes arguments of what
was recorded; `reading` finds the operators that a program called itself and counts equal calls.
"""
