"""Accuracy beside the peers: embeddings, score variants, and what careless splits hide."""
