"""Static site that runs the network in the browser: a folder, or one HTML file.

    python -m deploy.site OUT              # a folder
    python -m deploy.site OUT --one-file   # OUT is one HTML file that also opens from a memory stick

``js/`` holds the modules that correct in the browser, ports of the Python files that their first lines name.
Data in Python (patterns, limits, keys, weights, trees, words, phrases) is written out from
there (``rules``, ``packed``) and not typed a second time. The morphological analyser does not come along: it
takes 80 MB. So the second trees of ``model.correction.confidence`` are left out.
"""
