"""From facts to figures to a page: what is drawn is computed elsewhere, what is computed is never drawn."""
