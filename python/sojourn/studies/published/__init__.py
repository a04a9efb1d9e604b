"""Programs that others have published: a recipe each, run from a clone that the user has.

None of their text is here. A recipe says which repository and commit, what the files of that commit
hash to, a control plane of ours, and a scenario.
"""

PREFIX = "published/"
"""What the name of a recipe begins with where a scenario is asked for."""
