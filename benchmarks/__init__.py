"""Speed and memory, side by side with the peers and the limit. ``python -m benchmarks`` runs them all."""
