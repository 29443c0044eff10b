"""ONNX export: from a network's config to the graphs of its encoder and decoder.

The only room that imports ``onnx``, which is needed to write graphs and not to answer from them.
"""
