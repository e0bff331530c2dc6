"""S3 for tests: a process of moto, with the two buckets of a deployment."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3

from tests.server.programs import free_port, is_listening, wait_until

MEDIA, PRIVATE = "shop-media", "shop-private"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test-secret", "AWS_DEFAULT_REGION": "eu-central-1"}


class Buckets:
    """`environment` has the variables of a deployment that uses them."""

    def __init__(self, port: int) -> None:
        endpoint = f"http://127.0.0.1:{port}"
        self.environment = {
            **KEYS,
            "AWS_ENDPOINT_URL_S3": endpoint,
            "STOREFRONT_S3_MEDIA_BUCKET": MEDIA,
            "STOREFRONT_S3_PRIVATE_BUCKET": PRIVATE,
        }
        id, secret, region = KEYS.values()
        given = {"aws_access_key_id": id, "aws_secret_access_key": secret, "region_name": region}
        self.client: Any = boto3.client("s3", endpoint_url=endpoint, **given)

    def names(self, bucket: str) -> list[str]:
        return [each["Key"] for each in self.client.list_objects_v2(Bucket=bucket).get("Contents", [])]


@contextmanager
def buckets() -> Iterator[Buckets]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: is_listening(port), what="moto", process=process)
        found = Buckets(port)
        for bucket in (MEDIA, PRIVATE):
            region = {"LocationConstraint": KEYS["AWS_DEFAULT_REGION"]}
            found.client.create_bucket(Bucket=bucket, CreateBucketConfiguration=region)
        yield found
    finally:
        process.kill()
        process.wait()
