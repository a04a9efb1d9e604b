"""Published programs of other authors: one recipe each, run from a clone that the user has.

The repository holds none of their text. A recipe names repository and commit, the hashes of that
commit's files, a control plane, and a scenario.
"""

PREFIX = "published/"
"""Prefix of a recipe's name in place of a scenario."""
