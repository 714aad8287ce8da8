"""What the command line of MXNet's opperf is made of: its operators, its rows and its documents."""
