"""Measure on many machines: the plan, split into pieces for the nodes of a fleet.

* An engine (Ray, or Slurm by submitit) starts a process on each node and carries text to and fro; it is all that
  listens anywhere. `scheduler` decides who gets which piece; it knows neither engines nor the content of pieces.
* A piece stays on one node: all processes of a trial, all pairs of a comparison, or all that the judge does with
  a candidate. Its outcome counts once, whatever dies, and is in the journal here before the next is looked at.
* `node` runs there. It needs Python, and a few small libraries that `bootstrap` gets where they are missing.
"""
