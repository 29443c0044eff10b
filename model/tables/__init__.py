"""Tables of texts (CSV, TXT, XLSX): read row by row, corrected, and written again.

``read_rows`` -> ``correct_rows`` -> a writer of ``WRITERS``; ``PartialResult`` resumes an interrupted run. At
most a few hundred rows are in memory.
"""
