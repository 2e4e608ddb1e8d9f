// Sends the token, which stands behind # and is sent by no browser, and removes it from the
// address. A page that was opened before is shown again.
"use strict";
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const before = localStorage.getItem("page");
if (token && token !== localStorage.getItem("token")) {
  localStorage.setItem("token", token);
  document.getElementById("token").value = token;
  document.getElementById("enter").submit();
} else if (before && !document.querySelector(".alert")) {
  fetch(before).then((r) => { if (r.ok) location.replace(before + "#newest"); });
}
