"""Parts that pages are put together from: figures, tables of numbers, the drawn network, uploads."""
