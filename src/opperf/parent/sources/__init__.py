"""Sources of cases: the catalog, the user's own inputs, suite files, PARAM's configs, execution traces."""
