"""Spelling rules of Korean as data: the official norm, article by article.

The norm is 한글 맞춤법, 표준어 규정 and 외래어 표기법.

The ``.toml`` files here hold right and wrong spellings; ``kinds`` reads them, and
``article_of`` names the article that a correction follows, ``explanation_of`` the reason that a teacher
gives. Source: the norms themselves, 문화체육관광부 고시
제2017-12호, 제2017-13호 and 제2017-14호.
"""

from model.norm.articles import Article, article_of, explanation_of, misspellings, spoils, without_held_out

__all__ = ["Article", "article_of", "explanation_of", "misspellings", "spoils", "without_held_out"]
