"""Collecting answers: a study file, a database that loses nothing, pages for people, a live view for researchers."""
