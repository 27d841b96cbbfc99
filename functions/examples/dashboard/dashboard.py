"""The smallest dashboard of an operator, to copy: customers see their account, and issue, replace and revoke keys.

Stripe's checkout or payment link returns customers to ADDRESS/?session_id={CHECKOUT_SESSION_ID}. The dashboard asks Stripe for the customer
of the session, and stores the account in a signed cookie. A site with its own login can use that login instead.
It reads STRIPE_API_KEY (a restricted key that may read checkout sessions and subscriptions), COOKIE_SECRET (32 random characters),
ACCOUNTS_FUNCTION (the stack's output), and PORT (8000). Run it behind a proxy with HTTPS.
"""

import hashlib
import hmac
import html
import json
import os
import time
import urllib.parse
import urllib.request
import uuid
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
from botocore.exceptions import BotoCoreError, ClientError

FUNCTION = os.environ["ACCOUNTS_FUNCTION"]
STRIPE = os.environ.get("STRIPE_API", "https://api.stripe.com")
STRIPE_API_KEY = os.environ["STRIPE_API_KEY"]
COOKIE_SECRET = os.environ["COOKIE_SECRET"].encode()
# A link with a session is a login for a day. A replaced key is valid for another day.
DAY = 86_400
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>API keys</title>
<style>body {{font: 16px/2 system-ui; margin: 2rem}} form {{display: inline}} td {{padding-right: 1rem}}</style><h1>API keys</h1>{}"""
functions = boto3.client("lambda")


class Refused(Exception):
    """The code and the message of a command that failed."""


def run(command, **fields):
    """Returns the result of a command of the function for accounts and keys."""
    reply = functions.invoke(FunctionName=FUNCTION, Payload=json.dumps({"command": command, **fields}))
    content = json.load(reply["Payload"])
    if "result" not in content:
        error = content.get("error", {"code": "unavailable", "message": "try again later"})
        raise Refused(error["code"], error["message"])
    return content["result"]


def account_of_session(session):
    """Returns the account that a checkout has paid for in the last day, or None."""
    url = f"{STRIPE}/v1/checkout/sessions/{urllib.parse.quote(session, safe='')}?expand[]=subscription"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {STRIPE_API_KEY}"})
    try:
        checkout = json.load(urllib.request.urlopen(request, timeout=10))
    except OSError:
        return None
    if checkout["status"] != "complete" or not checkout["subscription"] or checkout["created"] < time.time() - DAY:
        return None
    return checkout["subscription"]["metadata"].get("account") or checkout["customer"]


def signature(account):
    return hmac.new(COOKIE_SECRET, account.encode(), hashlib.sha256).hexdigest()


def form(action, label, **fields):
    """Returns a form. If it is sent twice, both requests have the same id, so only one new key remains."""
    fields = {"action": action, "request_id": str(uuid.uuid4()), **fields}
    inputs = "".join(f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in fields.items())
    name = '<input name="label" aria-label="Name of the key" placeholder="my bot" required maxlength="64"> ' if action == "issue" else ""
    return f'<form method="post">{inputs}{name}<button>{label}</button></form>'


def account_page(name):
    account = run("get_account", account=name)
    state = "active" if account["allowed"] else f"not accepted: {account['reason']}"
    rows = "".join(
        f"<tr><td>{html.escape(key['label'])}<td>…{key['last_four']}<td>{'until ' + key['expires_at'] if key.get('expires_at') else ''}"
        f"<td>{form('replace', 'Replace', key_id=key['id']) if not key.get('expires_at') else ''} {form('revoke', 'Revoke', key_id=key['id'])}"
        for key in account["keys"] if key["state"] == "issued"
    )
    summary = f"<p>{html.escape(name)}: {account['tier']}, {html.escape(state)}, paid until {account['paid_until']}</p>"
    return f"{summary}<table>{rows}</table><p>{form('issue', 'Issue a key')}</p>"


def change_keys(account, fields):
    """Does what the form says, and returns the new key, if there is one."""
    action, key_id, request_id = (fields.get(name, "") for name in ("action", "key_id", "request_id"))
    if action == "issue":
        return run("issue_key", account=account, label=fields.get("label", ""), request_id=request_id)["key"]
    # The function for accounts does not check who owns a key, so the dashboard must.
    if key_id not in {key["id"] for key in run("list_keys", account=account)["keys"]}:
        raise Refused("no_key", "this account has no such key")
    if action == "replace":
        return run("replace_key", key_id=key_id, grace_seconds=DAY, request_id=request_id)["key"]
    run("revoke_key", key_id=key_id, request_id=request_id)


class Dashboard(BaseHTTPRequestHandler):
    def log_request(self, code="-", size="-"):
        """Logs nothing, because the address can contain a session."""

    def account(self):
        """Returns the account of a cookie with a valid signature, or None."""
        cookie = SimpleCookie(self.headers.get("Cookie")).get("account")
        account, _, given = urllib.parse.unquote(cookie.value if cookie else "").rpartition(" ")
        return account if hmac.compare_digest(given.encode(), signature(account).encode()) else None

    def respond(self, status, content="", **headers):
        body = PAGE.format(content).encode()
        headers |= {"Content-Type": "text/html", "Cache-Control": "no-store", "Content-Security-Policy": "frame-ancestors 'none'"}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        session = urllib.parse.parse_qs(self.path.partition("?")[2]).get("session_id", [""])[0]
        if session and (account := account_of_session(session)):
            value = urllib.parse.quote(f"{account} {signature(account)}")
            cookie = f"account={value}; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=31536000"
            self.respond(303, **{"Set-Cookie": cookie, "Location": "/"})
        else:
            self.show(self.account())

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        body = self.rfile.read(min(int(length) if length.isdecimal() else 0, 10_000))
        self.show(self.account(), dict(urllib.parse.parse_qsl(body.decode(errors="replace"))))

    def show(self, account, fields=None):
        if account is None:
            return self.respond(401, "<p>Subscribe first. The checkout then opens this page.</p>")
        try:
            key = change_keys(account, fields) if fields else None
            shown = f"<p>Your new key, shown only now: <code>{key}</code></p>" if key else ""
            self.respond(200, shown + account_page(account))
        except Refused as refused:
            code, message = refused.args
            # The account exists once Stripe has reported the payment, which takes seconds.
            waiting = '<meta http-equiv="refresh" content="3"><p>Waiting for the payment …</p>'
            self.respond(200, waiting if code == "no_account" else f'<p>{html.escape(message)}</p><p><a href="/">Back</a></p>')
        except (BotoCoreError, ClientError):
            self.respond(502, '<p>Try again later.</p><p><a href="/">Back</a></p>')


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Dashboard).serve_forever()
