"""One view of one sentence as files: its numbers for a program, its pictures for an offline browser."""
