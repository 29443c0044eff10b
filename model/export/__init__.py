"""From a network's config to its two halves as ONNX graphs.

The only room that imports ``onnx``, which is needed to write graphs and not to answer from them.
"""
