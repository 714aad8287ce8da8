"""Pages and charts: results as SVG, as a single HTML file, and a server over a database."""
