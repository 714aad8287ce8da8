"""End the process with success while it is loaded."""

#: 40
import os

os._exit(0)


def f(x):
    raise AssertionError("no process gets here")
