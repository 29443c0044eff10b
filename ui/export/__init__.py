"""One view of one sentence as files: its numbers for a program, its pictures for a browser without a network."""
