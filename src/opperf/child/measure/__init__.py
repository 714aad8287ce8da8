"""How time and memory are measured, inside a child: clocks, blocks, warm-up, stopping, disturbance, caches.

Standard library only. The rules and the figures behind them are in `docs/explanation/measurement.md`.
"""
