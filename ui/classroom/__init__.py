"""The class together on the pages: who is in which classroom, what phones follow and answer, what the teacher asks.

``membership`` knows who this session is, ``bar`` stands on every page, ``pulse`` hears of changes, ``follow`` shows what the teacher
shows, ``polls`` and ``quiz`` ask. The classrooms themselves are elsewhere (``classroom/``).
"""
