"""The Streamlit pages: controls bound to the address, and pictures from ``viz``. Nothing here computes attention.

``pages`` has a script for each page, which begins with ``header.show``. ``shell`` is what all pages share, ``look`` the main page and the
laboratory, ``views`` what they show, ``asking`` the way to the engine, ``components`` what has JavaScript, ``parts`` what pages are put
together from, ``wording`` texts and numbers as people read them, ``export`` the files that a visitor takes along.

A key pressed runs the whole page again, so little is sent: popovers and expanders send their content only while they are open, and no
page imports pandas before a table needs it.
"""
