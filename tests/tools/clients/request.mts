// Sends a request with the TypeScript client. The compiler checks the request against the generated types.

import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const client = createClient<paths>({ baseUrl: process.env.BASE_URL, headers: { "X-API-Key": process.env.API_KEY } });
const { data, error } = await client.GET("/v1/profile/{username}", { params: { path: { username: "Notch" } } });
if (data === undefined) throw new Error(error.error.message);
console.log(`TypeScript: ${data.data.username}`);
