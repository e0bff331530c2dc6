"""Clients generated from the description, by four generators: they pass strict type checks, buy, and change one member
of a record without changing another."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from storefront.catalogue.models import Product
from storefront.orders.models import Order
from storefront.server.api.docs import encoded_document
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.checkout.shopper import Shopper
from tests.factories.apps import install
from tests.shops.factories import NOW, make_token

HERE = Path(__file__).parent
NODE = Path(sys.prefix) / "node"

pytestmark = [
    pytest.mark.any_database,
    pytest.mark.proof,
    pytest.mark.timeout(600),
    pytest.mark.django_db(transaction=True),
]

needs_node = pytest.mark.skipif(
    not (shutil.which("node") and (NODE / "installed").exists()),
    reason="there is no Node here, or bin/node.py could not fetch its tools",
)


class Client:
    """A script that uses a generated client. `build` generates, checks types, and makes the script ready to run."""

    script: str

    def __init__(self, folder: Path, document: Path) -> None:
        self.folder, self.document = folder, document
        shutil.copy(HERE / self.script, folder)
        self.build()

    def build(self) -> None:
        raise NotImplementedError

    def command(self) -> list[str]:
        return [sys.executable, self.script]

    def run(self, *command: str) -> str:
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout.strip()

    def call(self, *arguments: str) -> str:
        return self.run(*self.command(), *arguments)


class PythonClient(Client):
    script = "python_client.py"

    def build(self) -> None:
        generator = str(Path(sys.executable).with_name("openapi-python-client"))
        self.run(generator, "generate", "--path", str(self.document), "--meta", "none", "--output-path", "shop_client")
        self.run(sys.executable, "-m", "mypy", "--strict", "--config-file=", self.script, "shop_client")


class PydanticModels(Client):
    script = "pydantic_models.py"

    def build(self) -> None:
        generator = str(Path(sys.executable).with_name("datamodel-codegen"))
        shape = ["--output-model-type", "pydantic_v2.BaseModel", "--use-annotated", "--target-python-version", "3.11"]
        given = ["--input", str(self.document), "--input-file-type", "openapi", "--output", "shop_models.py"]
        self.run(generator, *given, *shape)
        plugin = self.folder / "mypy.ini"
        plugin.write_text("[mypy]\nplugins = pydantic.mypy\n")
        self.run(sys.executable, "-m", "mypy", "--strict", self.script, "shop_models.py")


class TypeScript(Client):
    def build(self) -> None:
        (self.folder / "node_modules").symlink_to(NODE / "node_modules")
        (self.folder / "package.json").write_text('{"type": "module"}')
        self.generate()
        options = {
            "compilerOptions": {
                "strict": True,
                "target": "es2022",
                "module": "nodenext",
                "lib": ["es2022", "dom", "dom.iterable"],
                "types": ["node"],
                "outDir": "built",
                "skipLibCheck": True,
            },
            "files": [self.script],
        }
        (self.folder / "tsconfig.json").write_text(json.dumps(options))
        self.run(self.tool("tsc"))

    def generate(self) -> None:
        raise NotImplementedError

    def tool(self, name: str) -> str:
        return str(NODE / "node_modules" / ".bin" / name)

    def command(self) -> list[str]:
        return ["node", f"built/{Path(self.script).stem}.js"]


class OpenapiFetch(TypeScript):
    script = "openapi_fetch.ts"

    def generate(self) -> None:
        self.run(self.tool("openapi-typescript"), str(self.document), "--output", "shop.d.ts")


class HeyApi(TypeScript):
    script = "hey_api.ts"

    def generate(self) -> None:
        (self.folder / "openapi-ts.config.mjs").write_text(
            f"export default {{ input: {str(self.document)!r}, "
            "output: { path: 'shop', importFileExtension: '.js' }, plugins: ['@hey-api/client-fetch'] };"
        )
        self.run(self.tool("openapi-ts"))


@pytest.fixture(
    params=[
        PythonClient,
        PydanticModels,
        pytest.param(OpenapiFetch, marks=needs_node),
        pytest.param(HeyApi, marks=needs_node),
    ]
)
def client(request, tmp_path) -> Client:
    document = tmp_path / "openapi.json"
    document.write_bytes(encoded_document())
    folder = tmp_path / "client"
    folder.mkdir()
    return request.param(folder, document)


def test_a_generated_client_buys_and_changes_only_what_it_names(client, live_server, shop, other_shop):
    given = {"price": "9.50", "published_on": NOW, "attributes": [{"name": "Colour"}]}
    mug = make_product(shop, "Mug", categories=(make_category(shop),), **given)
    picture = make_media(mug)
    make_media(mug, "https://cdn.example.com/two.jpg")
    make_option(mug)
    make_product(other_shop, "Mug")
    link = client.call("buy", live_server.url, make_token(shop))
    shopper = Shopper(shop)
    shopper.arrive(link)
    assert shopper.order().status_code == 303
    order = Order.objects.get()
    assert [(line.product_id, line.qty) for line in order.lines.all()] == [(mug.pk, 2)]

    make_variant(mug, image=picture)
    app = install(shop, "read_products", "write_products", "read_orders", "write_orders").api
    paths = (f"/products/{mug.pk}", f"/orders/{order.pk}")
    before = {path: next(iter(app.get(path).json().values())) for path in paths}
    ids = [str(each.pk) for each in (mug, picture, order)]
    assert client.call("change", live_server.url, app.token, *ids) == str(order.total)
    for path, record in before.items():
        after = next(iter(app.get(path).json().values()))
        changed = {name for name in record if record[name] != after[name]} - {"updated_at"}
        assert changed == ({"price", "media"} if "products" in path else {"tags"})
        if "products" in path:
            assert [each["alt"] for each in after["media"]] == ["A", record["media"][1]["alt"]]
    assert Product.objects.get(pk=mug.pk).variants.count() == 1
