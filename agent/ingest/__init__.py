"""From the files of a knowledge base to the index: the gate, entries, chunks, lint, and the run that brings an index up to date."""
