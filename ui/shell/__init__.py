"""Parts of all pages: address and settings, header, controls, HTML and style, runs of scripts, the server."""
