// Types by openapi-typescript, in `shop.d.ts`, and openapi-fetch: `buy`, or `change`.
import createClient from "openapi-fetch";
import type { paths } from "./shop.js";

const [command, baseUrl, token, ...ids] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: `Bearer ${token}` } });

function known<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

if (command === "buy") {
  const page = known(await client.GET("/api/v1/products", { params: { query: { q: "mug" } } }));
  const body = { product_id: page.data[0]!.id, qty: 2 };
  const added = known(await client.POST("/api/v1/cart", { body }));
  const header = { "X-Cart-Token": added.cart_token };
  const link = known(await client.POST("/api/v1/cart/checkout", { params: { header } }));
  console.log(link.checkout_url);
} else {
  const [product_id, picture_id, order_id] = ids.map(Number) as [number, number, number];
  const product = { params: { path: { product_id } } };
  known(await client.PATCH("/api/apps/products/{product_id}", { ...product, body: { price: "6.00" } }));
  const media = [{ id: picture_id, alt: "A" }];
  known(await client.PATCH("/api/apps/products/{product_id}", { ...product, body: { media } }));
  const order = { params: { path: { order_id } } };
  known(await client.PATCH("/api/apps/orders/{order_id}", { ...order, body: { tags: ["vip"] } }));
  console.log(known(await client.GET("/api/apps/orders/{order_id}", order)).order.total);
}
