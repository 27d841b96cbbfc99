"use strict";
// The address of the API: everything before the name of this page.
const base = new URL(".", location.href).href;
(async () => {
  const description = await (await fetch("openapi.json")).json();
  description.servers = [{ url: base.replace(/\/$/, "") }];
  Scalar.createApiReference("#reference", { content: description, withDefaultFonts: false, telemetry: false });
})();
