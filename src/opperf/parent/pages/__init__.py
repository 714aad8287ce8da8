"""Pages and pictures: charts of results as SVG, one file of HTML for each result, and a server over a database."""
