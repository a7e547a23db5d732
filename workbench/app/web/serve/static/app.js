// What textual-serve's script leaves open: where to connect, who has the keys, and what happens when the line is cut.
"use strict";

// Texts under review hold addresses; none of them opens a window.
window.open = () => null;

const SAVED = "Every label is saved, except any that was shown as not saved.";
const ENDINGS = {
  4000: `You have left the app. ${SAVED}`,
  4001: "The app was opened in another window or on another device.",
  4002: "All places are taken at the moment.",
  4003: `The app has ended. ${SAVED}`,
  4004: "You were logged out. Ask the coordinator for a new link.",
  4005: "The connection was ended.",
};
const UNOPENED = 4006;
const LONGEST_WAIT_S = 15;
const START_WAIT_S = 1;

function say(text, button) {
  document.querySelector("#said").textContent = text;
  document.querySelector("#again").textContent = button;
  const dialog = document.querySelector("#over");
  if (!dialog.open) {
    dialog.showModal();
  }
}

async function again() {
  // Any answer is one: a refusal is shown by the page itself.
  await fetch("/", { method: "HEAD" });
  location.reload();
}

function connectAgain(wait) {
  say(`The connection is lost. ${SAVED} Connecting again …`, "Connect now");
  setTimeout(() => again().catch(() => connectAgain(Math.min(2 * wait, LONGEST_WAIT_S))), 1000 * wait);
}

function openLater() {
  say(`The app can't be opened at the moment; whoever runs the server is told why. ${SAVED} Trying again …`, "Try now");
  setTimeout(() => again().catch(() => connectAgain(START_WAIT_S)), 1000 * LONGEST_WAIT_S);
}

function closed(event) {
  if (event.code === UNOPENED) {
    openLater();
  } else if (event.code in ENDINGS) {
    say(ENDINGS[event.code], event.code === 4001 ? "Use it here" : "Open again");
  } else {
    connectAgain(START_WAIT_S);
  }
}

function opened() {
  document.querySelector(".xterm-helper-textarea").focus();
  // A terminal that had the focus before the socket was open says nothing of it.
  this.send(JSON.stringify([document.hasFocus() ? "focus" : "blur"]));
}

window.WebSocket = class extends WebSocket {
  constructor(url) {
    super(url);
    this.addEventListener("open", opened);
    this.addEventListener("close", closed);
  }
};

const start = window.onload;
window.onload = null;

addEventListener("load", async () => {
  const socket = new URL("/ws", location.href);
  socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  document.querySelector("#terminal").dataset.sessionWebsocketUrl = socket.href;
  document.querySelector("#again").addEventListener("click", () => again().catch(() => connectAgain(START_WAIT_S)));
  // Cells are measured with the font; it has to be there first.
  await document.fonts.load("16px 'Roboto Mono'").catch(() => null);
  start();
});
