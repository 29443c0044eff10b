"""From a text to its correction. ``corrector.Corrector`` is what callers use; the other files are its steps.

``reading`` lets the network read sentences. ``candidates`` finds what it might have written, and ``confidence`` judges that (with
``words``, ``ngrams`` and ``morphemes``). ``proposing`` makes changes of it. ``second_reading`` reads the corrected sentence again.
``agreeing`` compares the sentences of a text, and ``correction`` holds the result.
"""
