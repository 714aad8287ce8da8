"""The parent, where opperf is installed: it plans, starts children, stores, analyzes and reports."""
