"""`make local`: a deployment of two pods on this machine, to look at and to try things with.

`deployment.py` has what runs, `programs.py` starts it, starts it again and ends it, `files.py` makes its settings of
the other files in deploy/, `shops.py` fills it, `__main__.py` is the command. docs/pods.md describes it.
"""
