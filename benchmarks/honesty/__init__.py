"""Is every sentence about certainty true? Simulations whose truth is known, one module per kind of sentence."""
