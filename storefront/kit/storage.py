from django.core.files.storage import Storage, storages


def private_files() -> Storage:
    """Storage of uploads that only the shop may read. They are never served."""
    return storages["private"]
