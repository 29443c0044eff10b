"""ONNX Runtime inference: the numbers of the Keras network without TensorFlow.

Keras defines the network. A graph is written from a config, holds no weights, and is given those of
``weights.npz`` when it is opened; ``tests/model/graph/`` holds both against each other to 1e-5.
"""
