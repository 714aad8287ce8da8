"""Results that stay: runs, records and comparisons in a database, SQLite by default or PostgreSQL."""
