"""Streamlit pages: controls bound to the address, and figures from ``viz``.

Nothing here computes attention. ``pages`` has a script for each page, which begins with ``header.show``.
``shell`` has the parts that all pages share, ``sentence`` the main page and the laboratory, ``views`` their
views, ``asking`` the questions to the engine, ``components`` the parts with JavaScript, ``parts`` those of
single pages, ``wording`` texts and numbers as people read them, ``export`` the files that a visitor takes
along.

A key pressed runs the whole page again, so little is sent: popovers and expanders send their content only
while they are open, and no page imports pandas before a table needs it.
"""
