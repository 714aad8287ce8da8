"""Search operators for cases that cost too much: `search` asks, `meter` answers, `explore` confirms."""
