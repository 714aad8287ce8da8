"""The field's own lists of cases as suites: each form in a module of its own, all of them read as data."""
