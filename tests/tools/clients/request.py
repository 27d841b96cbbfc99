"""Sends a request with the Python client, which openapi-python-client has generated in the current folder."""

import os
import sys

sys.path.insert(0, ".")
from generated import AuthenticatedClient  # noqa: E402
from generated.api.profiles import get_profile  # noqa: E402

client = AuthenticatedClient(os.environ["BASE_URL"], token=os.environ["API_KEY"], auth_header_name="X-API-Key", prefix="")
profile = get_profile.sync(client=client, username="Notch")
print(f"Python: {profile.data.username}")
