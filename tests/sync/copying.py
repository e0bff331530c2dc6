"""A client that keeps a copy of a list, as `docs/sync.md` says."""

from typing import Any

from tests.client import ApiClient


class Copy:
    """A copy of the list at `path`, whose records are under `name`. Each `follow` takes over what has changed."""

    def __init__(self, api: ApiClient, path: str, name: str = "data", **parameters: Any) -> None:
        self.api, self.path, self.name, self.parameters = api, path, name, parameters
        self.records: dict[Any, dict] = {}
        self.after = ""
        self.answers = 0

    def step(self) -> dict:
        """Take over one answer, and return it."""
        query = "&".join(f"{key}={value}" for key, value in {**self.parameters, "after": self.after}.items())
        answer = self.api.get(f"{self.path}?{query}")
        assert answer.status_code == 200, answer.content
        body = answer.json()
        assert list(body) == [self.name, "deleted", "next"]
        for each in body["deleted"]:
            self.records.pop(each["id"], None)
        for record in body[self.name]:
            self.records[record["id"]] = record
        self.after = body["next"]
        self.answers += 1
        return body

    def follow(self) -> "Copy":
        """Read until there is nothing more."""
        while True:
            body = self.step()
            if not body[self.name] and not body["deleted"]:
                return self
