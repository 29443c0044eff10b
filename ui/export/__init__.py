"""Export of one view: its numbers as data files, its pictures as an HTML file."""
