"""The class together on the pages: membership, the pictures that phones follow, polls and quizzes.

``session`` has membership, the bar of each page and the news of a classroom, ``follow`` the pictures that
phones get from the teacher, shows, ``polls`` and ``quiz`` ask. The classrooms themselves are elsewhere
(``classroom/``).
"""
