"""Keras networks and their compiled passes.

This is the only room of ``model`` that imports Keras and TensorFlow. Importing one of its modules takes
seconds, so other rooms do it inside the function that needs a network.
"""
