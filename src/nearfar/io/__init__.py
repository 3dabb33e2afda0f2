"""Answers in, answers out: one file per dialect, one per format, all ending as Triplets."""
