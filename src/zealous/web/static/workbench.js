// What a page does beyond links and forms: copy code, jump to the search field.
"use strict";

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.closest("figure").querySelector("code").textContent);
    button.textContent = "Copied";
  });
}

document.addEventListener("keydown", (event) => {
  const search = document.getElementById("search");
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "/" && search && !typing) {
    event.preventDefault();
    search.focus();
  }
});
