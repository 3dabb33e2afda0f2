"""How good is it: metrics, honest splits, the noise ceiling, and the comparison of models."""
