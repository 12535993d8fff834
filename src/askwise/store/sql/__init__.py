"""The store on SQLite and PostgreSQL."""

from askwise.store.sql.store import Access, SqlStore

__all__ = ["Access", "SqlStore"]
