"""The dated values as a source: a SELECT runs where it can do no harm, a value named in words is looked up without a model."""

from agent.sources.sql.source import Sql

__all__ = ["Sql"]
