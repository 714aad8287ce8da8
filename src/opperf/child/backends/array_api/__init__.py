"""Every library that keeps the Python array API standard, each by its own module."""
