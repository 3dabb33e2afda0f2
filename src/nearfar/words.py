"""Every sentence about a result, once: the page, the terminal and the live view of ``nearfar ask`` call these."""
