"""The smallest dashboard of an operator, to copy: customers see their account and its usage, and issue, replace and revoke keys.

Stripe's checkout or payment link returns customers to ADDRESS/?session_id={CHECKOUT_SESSION_ID}. The dashboard asks Stripe for the customer
of the session, and stores the account in a signed cookie. A site with its own login can use that login instead.
It reads STRIPE_API_KEY (a restricted key that may read checkout sessions and subscriptions), COOKIE_SECRET (32 random characters),
KEYS_FUNCTION (the stack's output), PORT (8000), and STRIPE_API (Stripe's address). Run it as one process, behind a proxy with HTTPS.
"""

import hashlib
import hmac
import html
import json
import os
import re
import sys
import time
import urllib.parse
import urllib.request
import uuid
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
from botocore.exceptions import BotoCoreError, ClientError


def secret(name):
    """Returns the variable. A short secret could be guessed, and with an empty one anybody could sign a cookie."""
    value = os.environ.get(name, "").strip()
    if len(value) < 16:
        sys.exit(f"{name} must have at least 16 characters, but has {len(value)}.")
    return value


STRIPE = os.environ.get("STRIPE_API", "https://api.stripe.com")
STRIPE_API_KEY, COOKIE_SECRET = secret("STRIPE_API_KEY"), secret("COOKIE_SECRET").encode()
KEYS_FUNCTION = os.environ["KEYS_FUNCTION"]
DAY = 86_400  # A link with a session works for a day. A replaced key is valid for another day.
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>API keys</title>
<style>body {{font: 16px/2 system-ui; margin: 2rem}} form {{display: inline}} td {{padding-right: 1rem}}</style><h1>API keys</h1>{}"""
functions = boto3.client("lambda")
# New keys that no page has shown yet, by account and KEY-ID.
new_keys = {}


class Refused(Exception):
    """The code and the message of a command that failed."""


def run(command, account, **fields):
    """Returns the result of a command of the function for keys, which refuses keys of other accounts."""
    event = json.dumps({"command": command, "account": account, **fields})
    content = json.load(functions.invoke(FunctionName=KEYS_FUNCTION, Payload=event)["Payload"])
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
        is_recent = checkout["status"] == "complete" and checkout["created"] > time.time() - DAY
        named = (checkout["subscription"]["metadata"] or {}).get("account") or ""
        # As in the service, the customer's id counts in place of a name that is not allowed.
        is_allowed = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}", named)
        return (named if is_allowed else checkout["customer"]) if is_recent else None
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return None


def signed(text):
    return f"{text} {hmac.new(COOKIE_SECRET, text.encode(), hashlib.sha256).hexdigest()}"


def form(action, label, **fields):
    """Returns a form. If it is sent twice, both requests have the same id, so only one new key remains."""
    fields = {"action": action, "request_id": str(uuid.uuid4()), **fields}
    inputs = "".join(f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in fields.items())
    name = '<input name="label" aria-label="Name of the key" placeholder="my bot" required maxlength="64"> ' if action == "issue" else ""
    return f'<form method="post" onsubmit="this.lastChild.disabled = true">{inputs}{name}<button>{label}</button></form>'


def usage(name):
    """Returns the usage of the account in this month. Without it, the rest of the page is still useful."""
    try:
        used = run("usage", name)
    except (Refused, BotoCoreError, ClientError):
        return "<p>The usage is unknown now.</p>"
    left = "" if used["quota"] is None else f" of {used['quota']}; {used['remaining']} are left until {used['resets_at']}"
    days = "".join(f"<br>{day['day']}: {day['requests']}" for day in used["days"])
    return f"<details><summary>Requests this month: {used['used']}{left} (counted up to an hour late)</summary>{days}</details>"


def account_page(name):
    """Returns the page of the account. It shows each new key once."""
    account = run("get_account", name)
    keys = [key for key in account["keys"] if key["state"] == "issued"]
    unseen = new_keys.pop(name, {})
    # If a form was sent twice, the second request has revoked the key of the first.
    news = "".join(f"<p>Your new key, shown only now: <code>{unseen[key['id']]}</code></p>" for key in keys if key["id"] in unseen)
    if account["usable_from"]:
        news += f"<p>The account is new: requests may be refused until {account['usable_from']}.</p>"
    state = "active" if account["allowed"] else f"not accepted: {account['reason']}"
    rows = "".join(
        f"<tr><td>{html.escape(key['label'])}<td>…{key['last_four']}<td>{'until ' + key['expires_at'] if key.get('expires_at') else ''}"
        f"<td>{form('replace', 'Replace', key_id=key['id']) if not key.get('expires_at') else ''} {form('revoke', 'Revoke', key_id=key['id'])}"
        for key in keys
    )
    # An account whose subscriptions have moved to another one has no tier.
    paid = f"{account['tier']}, {html.escape(state)}, paid until {account['paid_until']}" if account["tier"] else html.escape(state)
    summary = f"<p>{html.escape(name)}: {paid}</p>"
    return f"{news}{summary}{usage(name)}<table>{rows}</table><p>{form('issue', 'Issue a key')}</p>"


def change_keys(account, fields):
    """Issues, replaces or revokes a key, as the form says. The next page shows a new key."""
    action, key_id, request_id = (fields.get(name, "") for name in ("action", "key_id", "request_id"))
    issued = None
    if action == "issue":
        issued = run("issue_key", account, label=fields.get("label", ""), request_id=request_id)
    elif action == "replace":
        issued = run("replace_key", account, key_id=key_id, grace_seconds=DAY, request_id=request_id)
    elif action == "revoke":
        run("revoke_key", account, key_id=key_id, request_id=request_id)
    if issued:
        new_keys.setdefault(account, {})[issued["id"]] = issued["key"]


class Dashboard(BaseHTTPRequestHandler):
    timeout = 30
    def log_request(self, code="-", size="-"):
        """Logs nothing, because the address can contain a session."""

    def account(self):
        """Returns the account of a signed cookie that has not expired, or None."""
        cookies = dict(part.strip().partition("=")[::2] for part in self.headers.get("Cookie", "").split(";"))
        given = urllib.parse.unquote(cookies.get("account", ""))
        text = given.rpartition(" ")[0]
        expiry, _, account = text.partition(" ")
        return account if hmac.compare_digest(given.encode(), signed(text).encode()) and int(expiry) > time.time() else None

    def respond(self, status, content="", **headers):
        body = PAGE.format(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", "Cache-Control": "no-store", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.partition("?")[0] != "/":
            return self.respond(404)
        session = urllib.parse.parse_qs(self.path.partition("?")[2]).get("session_id", [""])[0]
        if session and (account := account_of_session(session)):
            value = urllib.parse.quote(signed(f"{int(time.time()) + 90 * DAY} {account}"))
            cookie = f"account={value}; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age={90 * DAY}"
            self.respond(303, **{"Set-Cookie": cookie, "Location": "/"})
        else:
            self.show(self.account())

    def do_POST(self):
        if self.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            return self.respond(403)
        length = self.headers.get("Content-Length", "")[:4]
        body = self.rfile.read(int(length) if length.isdecimal() else 0)
        self.show(self.account(), dict(urllib.parse.parse_qsl(body.decode(errors="replace"))))

    def show(self, account, fields=None):
        """Responds with the page of the account, or after a form with a redirect to it, so that a reload does not send the form again."""
        if account is None:
            return self.respond(401, "<p>Subscribe first. The checkout then opens this page.</p>")
        try:
            if fields is not None:
                change_keys(account, fields)
                return self.respond(303, Location="/")
            content = account_page(account)
        except Refused as refused:
            code, message = refused.args
            # The account exists once Stripe has reported the payment, which takes seconds.
            waiting = '<meta http-equiv="refresh" content="3"><p>Waiting for the payment …</p>'
            content = waiting if code == "no_account" else f'<p>{html.escape(message)}</p><p><a href="/">Back</a></p>'
        except (BotoCoreError, ClientError):
            content = '<p>Try again later.</p><p><a href="/">Back</a></p>'
        self.respond(200, content)


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Dashboard).serve_forever()
