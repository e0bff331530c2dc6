// A client by @hey-api/openapi-ts, in the folder `shop`: `buy`, or `change`.
import { client } from "./shop/client.gen.js";
import {
  addToCart,
  createCheckoutLink,
  getOrderForApp,
  listProducts,
  updateOrderForApp,
  updateProductForApp,
} from "./shop/sdk.gen.js";

const [command, baseUrl, token, ...ids] = process.argv.slice(2);
client.setConfig({ baseUrl: baseUrl!, auth: token!, throwOnError: true });
const throwOnError = true;

if (command === "buy") {
  const page = await listProducts({ query: { q: "mug" }, throwOnError });
  const body = { product_id: page.data.data[0]!.id, qty: 2 };
  const added = await addToCart({ body, throwOnError });
  const headers = { "X-Cart-Token": added.data.cart_token };
  const link = await createCheckoutLink({ headers, throwOnError });
  console.log(link.data.checkout_url);
} else {
  const [product_id, picture_id, order_id] = ids.map(Number) as [number, number, number];
  await updateProductForApp({ path: { product_id }, body: { price: "6.00" }, throwOnError });
  const media = [{ id: picture_id, alt: "A" }];
  await updateProductForApp({ path: { product_id }, body: { media }, throwOnError });
  await updateOrderForApp({ path: { order_id }, body: { tags: ["vip"] }, throwOnError });
  const read = await getOrderForApp({ path: { order_id }, throwOnError });
  console.log(read.data.order.total);
}
