"""Service for editors and repositories: LanguageTool's HTTP API, file checks, ``check``.

``annotated`` holds the places of prose in a document, ``matches`` the wrong words of a correction,
``checker`` the corrector that keeps its answers, ``languagetool`` the requests and answers of the protocol,
``server`` its guards, limits and routes, ``tools`` the same for assistants.
"""

from service.checker import Checked, CheckResult, check
from service.matches import Match, matches

__all__ = ["CheckResult", "Checked", "Match", "check", "matches"]
