"""`make load`: shoppers in many shops of two pods, while programs are killed and shops are moved, and what is lost.

`shoppers.py` reads, fills carts and buys over HTTP, `kills.py` ends programs, `moves.py` moves shops, `checking.py`
compares what is stored with what shoppers saw, `report.py` writes the part of docs/scale.md, `__main__.py` is the
command. deploy/local runs the deployment.
"""
