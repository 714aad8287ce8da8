"""Where records are kept: a journal while a run goes on, a document when it ends."""
