// Uses the example dashboard in a real browser: buys access, waits for the payment, and issues, replaces and revokes a key. A server with
// two checkout sessions replaces Stripe, and Stripe's own library signs the events.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import Stripe from "stripe";

const { BASE_URL, LAMBDA_URL, CHROMIUM, PYTHON, EXAMPLES } = process.env as Record<string, string>;
const NOW = Math.floor(Date.now() / 1_000);
const CUSTOMERS: Record<string, string> = { cs_first: "cus_First", cs_second: "cus_Second" };

async function listen(listener?: RequestListener): Promise<[Server, number]> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return [server, (server.address() as AddressInfo).port];
}

async function mayor(key: string): Promise<number> {
    return (await fetch(`${BASE_URL}/v1/mayor`, { headers: { "X-API-Key": key } })).status;
}

async function pay(customer: string): Promise<void> {
    const item = { price: { id: "price_pro" }, current_period_start: NOW, current_period_end: NOW + 2_592_000 };
    const object = { customer, metadata: {}, status: "active", items: { data: [item] } };
    const payload = JSON.stringify({ id: `evt_${customer}`, type: "customer.subscription.created", created: NOW, data: { object } });
    const signature = new Stripe("sk_test_local").webhooks.generateTestHeaderString({ payload, secret: "whsec_local" });
    const response = await fetch(`${BASE_URL}/webhooks/stripe`, { method: "POST", body: payload, headers: { "Stripe-Signature": signature } });
    assert.equal(response.status, 200);
}

const [checkouts, checkoutPort] = await listen((request, response) => {
    const customer = CUSTOMERS[new URL(request.url!, "http://stripe").pathname.replace("/v1/checkout/sessions/", "")];
    const isKnown = customer !== undefined && request.headers.authorization === "Bearer rk_test_local";
    response.writeHead(isKnown ? 200 : 404);
    response.end(JSON.stringify({ status: "complete", created: NOW, customer, subscription: { metadata: {} } }));
});
// A port that was free just now.
const [placeholder, port] = await listen();
await new Promise((resolve) => placeholder.close(resolve));
const dashboard = spawn(PYTHON!, [`${EXAMPLES}/dashboard/dashboard.py`], {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
        ACCOUNTS_FUNCTION: "accounts", AWS_ACCESS_KEY_ID: "any", AWS_SECRET_ACCESS_KEY: "any", AWS_DEFAULT_REGION: "us-east-1",
        AWS_ENDPOINT_URL_LAMBDA: LAMBDA_URL, COOKIE_SECRET: "0123456789abcdef0123456789abcdef", PORT: String(port),
        STRIPE_API: `http://127.0.0.1:${checkoutPort}`, STRIPE_API_KEY: "rk_test_local",
    },
});
const address = `http://127.0.0.1:${port}/`;
const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ["--no-sandbox"] });
try {
    for (let attempt = 0; !(await fetch(address).catch(() => undefined)); attempt += 1) {
        assert.ok(attempt < 300, "the dashboard does not start");
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const page = await browser.newPage();
    const shown = page.locator("code");
    const rows = page.locator("tr:has(td)");
    await page.goto(`${address}?session_id=cs_unknown`);
    await page.getByText("Subscribe first").waitFor();

    // The customer returns to the dashboard before the event of the payment arrives.
    await page.goto(`${address}?session_id=cs_first`);
    await page.getByText("Waiting for the payment").waitFor();
    await pay("cus_First");
    await page.getByText("cus_First: pro, active").waitFor();

    await page.getByPlaceholder("my bot").fill("my <b>bot</b>");
    await page.getByRole("button", { name: "Issue a key" }).click();
    const first = (await shown.textContent())!;
    assert.equal(await mayor(first), 200);
    await page.goto(address);
    assert.equal((await page.content()).includes(first), false, "the key is shown again");
    assert.match(await rows.innerText(), /^my <b>bot<\/b>\t…\w{4}\t/);

    await page.getByRole("button", { name: "Replace" }).last().click();
    const second = (await shown.textContent())!;
    assert.notEqual(first, second);
    assert.equal(await mayor(first), 200);

    // Neither another customer nor a client with an unsigned cookie can revoke the key.
    const keyId = await page.locator('form:has-text("Revoke") input[name=key_id]').first().inputValue();
    const other = await browser.newContext();
    await pay("cus_Second");
    await (await other.newPage()).goto(`${address}?session_id=cs_second`);
    const form = { action: "revoke", key_id: keyId, request_id: "other" };
    assert.match(await (await other.request.post(address, { form })).text(), /no such key/);
    const headers = { Cookie: "account=cus_First%200000" };
    assert.equal((await fetch(address, { method: "POST", body: new URLSearchParams(form), headers })).status, 401);

    for (let left = 2; left > 0; left -= 1) {
        await page.goto(address);
        assert.equal(await rows.count(), left);
        await page.getByRole("button", { name: "Revoke" }).first().click();
        await page.waitForLoadState();
    }
    assert.equal(await mayor(second), 401);
    console.log("Dashboard: a key is issued, replaced and revoked");
} finally {
    await browser.close();
    dashboard.kill();
    checkouts.close();
}
