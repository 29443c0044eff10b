"""Files of texts (CSV, TXT, XLSX, DOCX, HWPX): read row by row, corrected, written again.

``read_rows`` -> ``correct_rows`` -> a writer of ``WRITERS``; ``PartialResult`` resumes an interrupted run. At
most a few hundred rows are in memory.
"""
