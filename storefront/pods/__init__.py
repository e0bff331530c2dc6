"""Lets several databases serve one deployment's shops: a pod is one PostgreSQL database with its web and worker
processes (docs/pods.md). A deployment without further pods is pod 0, and notices nothing of this.

What must never happen: two pods give one id to different rows; a process runs on another pod's database; a pod answers
for a shop that another one serves, with another shop's page or a 404; a shop code opens anything without the digest of
its token; a proxy reads half a map, or one that it refuses; a pod that reads the registry writes a row of it, has half
of it, misses a change that `doctor` does not report, or keeps a row of its own whose account or app is gone.
"""
