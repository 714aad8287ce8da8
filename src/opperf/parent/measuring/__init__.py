"""What measures: trials one after the other, pairs of sides by turns, several at a time or over a fleet."""
