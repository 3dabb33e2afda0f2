"""Figures for print, by matplotlib."""
