"""Apps, their installations in shops, their secrets, and installation tokens.

Never installs or uninstalls; `apps` does. May import `kit` and `shops`.
"""
