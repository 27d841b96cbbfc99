import { html, render } from "./htm-preact.js";
render(html`<h1>Market</h1>`, document.getElementById("app"));
