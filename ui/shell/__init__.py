"""Shared parts of all pages: address, settings, header, controls, HTML, script runs, server."""
