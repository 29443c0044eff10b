"""Classroom on the pages: membership, pictures on students' phones, polls, quizzes.

``session`` has membership, the bar of each page and the news of a classroom, ``follow`` the pictures that
phones get from the page that the teacher shows, ``polls`` and ``quiz`` the questions. The classrooms
themselves are in ``classroom/``.
"""
