"""Entry point of the Streamlit app, the list of its pages: `streamlit run app.py`.

Streamlit imports this file when the server starts, and runs it as a script each time a page is drawn.
"""

import streamlit as st

if __name__ != "__main__":
    from starlette.middleware import Middleware

    from ui.shell.server import KeptFiles, started

    app = st.App(__file__, lifespan=started, middleware=[Middleware(KeptFiles)])
else:
    from ui import views  # noqa: F401  its views add their settings to the address
    from ui.asking import loaders, models
    from ui.classroom import session
    from ui.shell import address, runs
    from ui.shell.header import PAGES
    from ui.wording import say

    with runs.taken():
        address.follow()
        runs.drop_questions()
        product = say("product")
        st.set_page_config(page_title=product, layout="wide")
        loaders.engine()  # where it has not begun with the server
        page = st.navigation(
            [
                st.Page(
                    f"ui/pages/{name}.py", title=say(f"{name}_page"), url_path=name, default=name == PAGES[0]
                )
                for name in PAGES
            ],
            position="hidden",
        )
        if page.url_path:  # a window, or a bookmark, says which page it holds
            st.set_page_config(page_title=f"{page.title} · {product}")
        with models.error_shown():
            page.run()
        with models.error_shown():
            session.show_bar(page.url_path or PAGES[0])
        if page.url_path:  # the main page publishes with its text (ui/sentence/page.py)
            address.publish(page.url_path)
    with models.error_shown():
        runs.ask_rest()
