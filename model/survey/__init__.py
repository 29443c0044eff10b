"""Surveys over many sentences: head roles, effects, contributions; agreement of methods.

``python -m model heads FILE --out FOLDER`` writes ``heads.json`` and ``heads.csv``, and resumes a stopped
run. A survey is a sum over sentences, so the page of the heads can add a few sentences at a time.

``assets/transformer/heads.json`` was made of our own sentences: the 289 everyday ones in
``benchmarks/everyday*.csv``, each with two sets of generated errors (``python -m training pairs pairs.csv``,
then ``python -m model heads pairs.csv --effects 377 --pruning 408 --answers 377``). Heads were ordered by the
first part of the file and the pruning curve was measured on the last part; the two share no sentence. New
weights need a new survey, because a survey belongs to the first half of a fingerprint
(``folder.of_weights``). A new fit of the confidence needs none: a survey uses the network alone. The same
holds for ``agreement.json``.

``answers.json`` holds attention, direct contributions and effects in edits of the development sentences with
generated errors (``sums``); the step ``answers`` of ``python -m training ship`` makes it.
"""
