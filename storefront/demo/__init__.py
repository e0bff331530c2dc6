"""The demo shop's content: its products, its pictures drawn by code, and the actions that open and delete it."""
