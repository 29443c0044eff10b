"""Examples for networks of other libraries: traces, interventions, a PyTorch port.

Nothing of the app needs this folder.
"""
