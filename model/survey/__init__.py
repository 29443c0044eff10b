"""What heads do, and how well methods agree, over many sentences: made chunk by chunk, kept in a model's folder."""
