"""The command line: one file for each verb. Data goes to stdout, talk and progress to stderr."""
