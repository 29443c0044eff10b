"""The lesson plans and the worksheet, written from what ``benchmarks/lesson.py`` found the shipped network to do."""
