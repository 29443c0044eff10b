"""The paths of weights that belong to attention. A model folder keeps weights under these names, so they never change."""

# Of each kind of attention, in a block: its layer, and the residual connection around it.
ATTENTION_PATHS = {
    "encoder_attention": ("self_attention", "around_attention"),
    "decoder_attention": ("self_attention", "around_self_attention"),
    "cross_attention": ("cross_attention", "around_cross_attention"),
}
