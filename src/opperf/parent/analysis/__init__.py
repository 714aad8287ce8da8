"""From raw samples to what can be said of them."""
