"""End the process with success in its first call, with nothing that Python could catch."""

#: 40
import os


def f(x):
    os._exit(0)
