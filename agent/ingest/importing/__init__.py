"""Brings foreign documents into a knowledge base as entries: read, outlined, checked, written beside and put in place in one go."""
