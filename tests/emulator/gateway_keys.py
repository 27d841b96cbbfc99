"""The keys of API Gateway that count the requests of an account, one per tier."""

import hashlib

from cloud import STACK
from stack import expect

TIERS = ("free", "starter", "pro")


def gateway_keys(account, name):
    """Returns the keys of the account `name` by tier. Their names and values follow from the names of the stack, the account and the tier."""
    gateway, found = account.client("apigateway"), {}
    for tier in TIERS:
        value = hashlib.sha256(f"{STACK}\n{name}\n{tier}".encode()).hexdigest()[:40]
        for key in gateway.get_api_keys(nameQuery=f"{STACK}-{value}", includeValues=True)["items"]:
            expect((key["name"], key["value"], key["enabled"]) == (f"{STACK}-{value}", value, True), f"a key of {name} is {key}")
            found[tier] = key
    return found


def all_gateway_keys(account):
    """Returns the ids of all keys of the stack, as infra/README.md, Remove, finds them."""
    pages = account.client("apigateway").get_paginator("get_api_keys").paginate(nameQuery=f"{STACK}-")
    return {key["id"] for page in pages for key in page["items"]}
