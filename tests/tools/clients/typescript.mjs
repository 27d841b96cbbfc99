// Writes TypeScript for the types of `schema.d.ts`: `requests` makes a program that sends every request of the document's examples and
// writes the responses to responses.json, `responses` assigns these responses to the types.

import { readFileSync, writeFileSync } from "node:fs";

const document = JSON.parse(readFileSync("openapi.json", "utf8"));

/** The requests of the examples: path and parameters. */
function requests() {
  return Object.entries(document.paths).flatMap(([path, { get }]) =>
    Object.keys(get.responses["200"].content["application/json"].examples).map((name) => {
      const params = {};
      for (const parameter of get.parameters ?? []) {
        const example = parameter.examples[name];
        if (example) (params[parameter.in] ??= {})[parameter.name] = example.value;
      }
      return [path, params];
    }),
  );
}

/** At most three entries of each array and of each large object: the compiler takes long for the whole bazaar. */
function shortened(value) {
  if (Array.isArray(value)) return value.slice(0, 3).map(shortened);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value);
  return Object.fromEntries((entries.length > 50 ? entries.slice(0, 3) : entries).map(([key, part]) => [key, shortened(part)]));
}

if (process.argv[2] === "requests") {
  const calls = requests().map(
    ([path, params]) => `received(${JSON.stringify(path)}, await client.GET(${JSON.stringify(path)}, { params: ${JSON.stringify(params)} }));\n`,
  );
  writeFileSync("requests.ts", `import { writeFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const headers = { "X-API-Key": process.env.API_KEY };
const client = createClient<paths>({ baseUrl: process.env.BASE_URL, headers });
const bodies: [string, unknown][] = [];
function received<Body>(path: string, result: { data?: Body; error?: { error: { message: string } }; response: Response }) {
  if (result.data === undefined) throw new Error(path + ": " + result.response.status + " " + result.error?.error.message);
  bodies.push([path, result.data]);
}
${calls.join("")}writeFileSync("responses.json", JSON.stringify(bodies));
console.log("TypeScript: " + bodies.length + " responses");
`);
} else {
  const bodies = JSON.parse(readFileSync("responses.json", "utf8"));
  const constants = bodies.map(
    ([path, body], number) => `const body${number}: Body<${JSON.stringify(path)}> = ${JSON.stringify(shortened(body), null, 1)};\n`,
  );
  writeFileSync("responses.ts", `import type { paths } from "./schema.d.ts";

type Body<Path extends keyof paths> = paths[Path]["get"]["responses"][200]["content"]["application/json"];
${constants.join("")}`);
}
