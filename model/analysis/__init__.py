"""What a trace says about a correction: small tables in NumPy, for figures and for researchers.

``edits`` asks which rows and columns belong to a change and which heads look there, ``heads`` sums a head
up in a number, ``words`` joins syllables to words, ``edges`` picks the weights worth a line, and ``kinds``
names the kind of a mistake. Nothing of these knows a network: a trace, changes and texts are all they read.

Others ask a ``Corrector`` again, with something changed: ``questions`` (why the fix, and not what was typed?),
``head_effects`` and ``pair_effects`` (without each head), ``contributions`` (from which characters?), ``replacing`` (with
other weights), ``forks`` (with another token at one step), ``pruning`` (without more and more heads). ``mixing``,
``integrated``, ``roles``, ``tally`` and ``ranks`` are their arithmetic. Importing them loads no network library.
"""
