"""Parts of single pages: model card, head numbers, network diagram, editable number table."""
