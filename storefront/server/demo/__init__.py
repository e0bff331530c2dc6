"""The demo shop's content: its products, its pictures drawn by code, and the one action that puts it in place."""
