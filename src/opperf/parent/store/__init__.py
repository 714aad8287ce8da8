"""Where records are kept: in a journal during a run, in a document when it ends."""
