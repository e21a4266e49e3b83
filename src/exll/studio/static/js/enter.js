/** The page of a one-time link: its code stands behind the #, which browsers do not send by themselves. */

import { byId } from "./dom.js";

function read() {
  const code = location.hash.slice(1);
  if (!byId("code")) return;
  byId("code").value = code;
  byId("open").hidden = !code;
  if (!code) byId("words").textContent = "The end of the link is missing. Scan the code again, or copy the whole link.";
}

addEventListener("hashchange", () => location.reload()); // another link, in the place of a used one
read();
