"""``python -m ui``, installed also as ``see-attention``: starts the app from whatever folder one stands in.

Arguments of the command are handed to ``streamlit run``: ``see-attention --server.port 8502``.
"""

import sys

from streamlit.web import cli

import assets


def main() -> None:
    """Run ``app.py``, which lies beside this package, until it is stopped."""
    cli.main(["run", str(assets.FOLDER.with_name("app.py")), *sys.argv[1:]], prog_name="streamlit")


if __name__ == "__main__":
    main()
