"""Package ``see_attention``: Korean spelling correction, and the attention of its network.

``see_attention.model`` corrects and traces, ``see_attention.viz`` draws. In a checkout they are ``model`` and
``viz``, and this folder is ``package``: ``hatch_build.py`` puts all of them together when the wheel is built.
"""

__version__ = "1.1.0"
