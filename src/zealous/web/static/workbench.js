// What a page does beyond links and forms: copy code, go back, jump to the search field.
"use strict";

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.closest("figure").querySelector("code").textContent);
    button.textContent = "Copied";
  });
}

// After an error: the page before, with what was typed there.
const back = document.querySelector("button.back");
if (back) {
  back.hidden = history.length < 2;
  back.addEventListener("click", () => history.back());
}

document.addEventListener("keydown", (event) => {
  const search = document.getElementById("search");
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && search && !typing) {
    event.preventDefault();
    search.focus();
  }
});

// Plan: what a choice means is computed by the server while a slider moves.
const live = document.querySelector("form[data-live]");
if (live) {
  const target = document.getElementById(live.dataset.live);
  const slider = document.getElementById("slider");
  const epsilon = document.getElementById("epsilon");
  const [least, most] = [Number(slider.dataset.least), Number(slider.dataset.most)];
  const toPlace = (value) => 100 * Math.log(value / least) / Math.log(most / least);
  const toEpsilon = (place) => Number((least * (most / least) ** (place / 100)).toPrecision(2));
  const levels = [...live.querySelectorAll("input[name=level]")];
  const custom = levels.find((each) => !each.dataset.epsilon);
  let last = 0;

  async function refresh() {
    const asked = new URLSearchParams(new FormData(live));
    history.replaceState(null, "", `/plan?${asked}`);
    const mine = ++last;
    asked.set("part", "result");
    const answer = await fetch(`/plan?${asked}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== last) return;
    target.replaceChildren(...(page.querySelector("main") ?? page.body).children);
    askAgain();
  }

  // What is being counted is asked for again.
  function askAgain() {
    if (target.querySelector("[data-again]")) setTimeout(refresh, 1000);
  }
  askAgain();

  slider.hidden = false;
  live.querySelector(".ends").hidden = false;
  slider.value = toPlace(Number(epsilon.value));
  live.querySelector(".no-script").hidden = true;
  function changed(event) {
    if (event.target === slider) epsilon.value = toEpsilon(Number(slider.value));
    if (event.target === slider || event.target === epsilon) {
      (levels.find((each) => Number(each.dataset.epsilon) === Number(epsilon.value)) ?? custom).checked = true;
    }
    if (event.target.dataset.epsilon) epsilon.value = event.target.dataset.epsilon;
    if (event.target.name === "guarantee") document.getElementById("delta").value = ""; // the usual one
    if (event.target !== slider) slider.value = toPlace(Number(epsilon.value));
    if (event.target.dataset.reload !== undefined) live.submit();
    else refresh();
  }
  // A list, or a field that is read as a whole, counts once it was changed; all others at once.
  const waits = (field) => field.tagName === "SELECT" || field.dataset.reload !== undefined;
  live.addEventListener("input", (event) => waits(event.target) || changed(event));
  live.addEventListener("change", (event) => waits(event.target) && changed(event));
  // The form that writes the plan sends what is chosen now.
  const write = document.querySelector("form[data-with]");
  write?.addEventListener("formdata", (event) => {
    const own = ["csrf", "name"];
    for (const name of [...event.formData.keys()]) if (!own.includes(name)) event.formData.delete(name);
    for (const [name, value] of new FormData(live)) event.formData.append(name, value);
  });
}

// Review: arrow keys move between the boxes of rows, and what goes is counted.
const boxes = [...document.querySelectorAll("input.goes")];
const gone = document.getElementById("gone");
if (gone) {
  const elsewhere = Number(gone.dataset.gone) - boxes.filter((box) => box.checked).length;
  document.querySelector("form.marks").addEventListener("input", () => {
    const number = elsewhere + boxes.filter((box) => box.checked).length;
    gone.textContent = number.toLocaleString("en");
    document.getElementById("some-go").hidden = !number;
    document.getElementById("none-go").hidden = Boolean(number);
  });
}
for (const [place, box] of boxes.entries()) {
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    boxes[Math.min(Math.max(place + step, 0), boxes.length - 1)].focus();
  });
}
