"""Training corpora: readers, filters, held-out parts, sampling by source."""
