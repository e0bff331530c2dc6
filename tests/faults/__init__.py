"""`make faults`: places orders while processes, databases, disks and clocks fail, and counts what is lost.

`deployment.py` runs a shop with all that it needs, `customers.py` buys in it, `faults.py` breaks it, `report.py` writes
the table of docs/failure.md, `__main__.py` is the command.
"""
