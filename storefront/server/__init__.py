"""Settings, URLs, the API's assembly and error rendering, the command line, and what runs them.

Holds no shop logic. May import every room; no room imports it.
"""
