"""From a text to its correction. ``corrector.Corrector`` is what callers use; the other files are its steps.

``candidates`` finds what the network might have written, ``confidence`` judges it (with ``words``, ``ngrams`` and ``morphemes``),
``proposing`` makes changes of it, ``second_reading`` asks again about unsure ones, and ``correction`` holds the result.
"""
