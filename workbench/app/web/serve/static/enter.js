// Exchanges the token behind the # of a link for a cookie. What stands there is sent to no server by itself, and it
// leaves the address bar and the history before anything else happens.
"use strict";

const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);

function say(text) {
  document.querySelector("#said").textContent = text;
}

async function enter() {
  if (!token) {
    say("Open the link you were given: this address alone lets nobody in.");
    return;
  }
  try {
    const answer = await fetch("/enter", { method: "POST", body: token });
    if (answer.ok) {
      location.replace("/");
    } else {
      say(await answer.text());
    }
  } catch {
    say("The server does not answer. Open the link again.");
  }
}

enter();
