"""The errors that InterPact raises: each says where, what and what to do."""

from __future__ import annotations


class InterPactError(Exception):
    """An input or a request that cannot be served; its text is meant for the user."""


class CaseProblem(InterPactError):
    """One case that cannot be served, though others can."""
