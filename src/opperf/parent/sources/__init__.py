"""Where cases come from: the catalog, the user's own inputs, suite files, PARAM's configs, execution traces."""
