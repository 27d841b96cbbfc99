// Uses the example dashboard in a real browser: buys access, waits for the payment, and issues, replaces and revokes keys. Reloads pages,
// and sends a form twice. A server with two checkout sessions replaces Stripe.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";

const { BASE_URL, LAMBDA_URL, CHROMIUM, PYTHON, EXAMPLES } = process.env as Record<string, string>;
const NOW = Math.floor(Date.now() / 1_000);
const STRIPE_KEY = "rk_test_local_cloud";
// Stripe sends either form for a subscription without metadata.
const SESSIONS: Record<string, object> = {
    cs_first: { customer: "cus_First", subscription: { metadata: {} } },
    cs_second: { customer: "cus_Second", subscription: { metadata: null } },
};

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
    const object = { id: `sub_${customer}`, customer, metadata: {}, status: "active", items: { data: [item] } };
    const type = "customer.subscription.created";
    const detail = { id: `evt_${customer}`, type, created: NOW, livemode: false, data: { object } };
    const body = JSON.stringify({ "detail-type": type, detail });
    const response = await fetch(`${LAMBDA_URL}/2015-03-31/functions/payments/invocations`, { method: "POST", body });
    assert.deepEqual(await response.json(), { outcome: "applied", account: customer });
}

const [checkouts, checkoutPort] = await listen((request, response) => {
    const session = SESSIONS[new URL(request.url!, "http://stripe").pathname.replace("/v1/checkout/sessions/", "")];
    const isKnown = session !== undefined && request.headers.authorization === `Bearer ${STRIPE_KEY}`;
    response.writeHead(isKnown ? 200 : 404);
    response.end(JSON.stringify({ status: "complete", created: NOW, ...session }));
});
// A port that was free just now.
const [placeholder, port] = await listen();
await new Promise((resolve) => placeholder.close(resolve));
const program = [`${EXAMPLES}/dashboard/dashboard.py`];
const env = {
    KEYS_FUNCTION: "KeysFunction", AWS_ACCESS_KEY_ID: "any", AWS_SECRET_ACCESS_KEY: "any", AWS_DEFAULT_REGION: "us-east-1",
    AWS_ENDPOINT_URL_LAMBDA: LAMBDA_URL, COOKIE_SECRET: "0123456789abcdef0123456789abcdef", PORT: String(port),
    STRIPE_API: `http://127.0.0.1:${checkoutPort}`, STRIPE_API_KEY: STRIPE_KEY,
};
for (const variable of ["COOKIE_SECRET", "STRIPE_API_KEY"]) {
    for (const value of ["", " ", "\n", "fifteen-letters", "  fifteen-letters\n"]) {
        const { status, stderr } = spawnSync(PYTHON!, program, { env: { ...env, [variable]: value }, encoding: "utf8", timeout: 60_000 });
        assert.equal(status, 1, `${variable}=${JSON.stringify(value)} starts the dashboard`);
        assert.match(stderr, new RegExp(`^${variable} must have at least 16 characters, but has \\d+\\.\\n$`));
    }
}
const dashboard = spawn(PYTHON!, program, { stdio: ["ignore", "inherit", "inherit"], env });
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
    // The reload neither shows the key again nor sends the form again, which would revoke the key and issue another one.
    await page.reload();
    assert.equal((await page.content()).includes(first), false, "the key is shown again");
    assert.equal(await shown.count(), 0);
    assert.match(await rows.innerText(), /^my <b>bot<\/b>\t…\w{4}\t/);
    assert.ok((await rows.innerText()).includes(`…${first.slice(-4)}`));
    await page.getByText(/^Requests this month: \d+/).waitFor();

    // If the browser sends a form twice, only the second key remains.
    const requestId = await page.locator("form:has-text('Issue a key') input[name=request_id]").inputValue();
    const twice = { form: { action: "issue", label: "twice", request_id: requestId }, maxRedirects: 0 };
    for (const attempt of [1, 2]) {
        assert.equal((await page.context().request.post(address, twice)).status(), 303, `attempt ${attempt}`);
    }
    await page.goto(address);
    const remaining = (await shown.textContent())!;
    assert.equal(await shown.count(), 1);
    assert.equal(await rows.count(), 2);
    assert.equal(await mayor(remaining), 200);
    const otherLabel = { ...twice, form: { ...twice.form, label: "other" } };
    assert.match(await (await page.context().request.post(address, otherLabel)).text(), /request_id/);
    await page.reload();
    assert.equal(await rows.count(), 2);
    assert.ok((await page.locator("table").innerText()).includes(`…${remaining.slice(-4)}`));

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
    assert.match(await (await other.request.post(address, { form })).text(), /there is no key/);
    const headers = { Cookie: "account=cus_First%200000" };
    assert.equal((await fetch(address, { method: "POST", body: new URLSearchParams(form), headers })).status, 401);

    await page.goto(address);
    for (let left = 3; left > 0; left -= 1) {
        assert.equal(await rows.count(), left);
        await page.getByRole("button", { name: "Revoke" }).first().click();
        await rows.nth(left - 1).waitFor({ state: "detached" });
    }
    assert.equal(await mayor(second), 401);
    console.log("Dashboard: keys are issued, replaced and revoked, and shown once");
} finally {
    await browser.close();
    dashboard.kill();
    checkouts.close();
}
