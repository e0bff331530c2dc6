"""Answers public reads from memory, before Django."""
