"""A server of pages over a database of results: read-only, each view a URL that also answers in JSON and CSV."""
