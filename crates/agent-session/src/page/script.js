"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const segments = [...document.querySelectorAll(".segment")];
  const links = [...document.querySelectorAll("nav li")];
  const details = () => [...document.querySelectorAll("main details.tool, main details.thinking")];
  const items = () => [...document.querySelectorAll("main .item")].filter((one) => !one.hidden && !one.closest("[hidden]"));

  /* Shows the branch that goes through a segment, and hides the others. */
  const show = (segment) => {
    const on = new Set();
    for (let one = segment; one; one = one.dataset.parent && $(one.dataset.parent)) on.add(one.id);
    for (let one = segment; one; one = one.dataset.next && $(one.dataset.next)) on.add(one.id);
    for (const one of segments) one.hidden = !on.has(one.id);
    for (const one of links) one.classList.toggle("current", on.has(one.dataset.segment));
  };

  const reveal = () => {
    const target = location.hash.length > 1 && $(location.hash.slice(1));
    if (!target) return;
    const segment = target.closest(".segment");
    if (segment && segment.hidden) show(segment);
    for (let one = target.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    const item = target.closest(".item") || target;
    item.hidden = false;
    item.scrollIntoView({ block: "start" });
    item.focus({ preventScroll: true });
    for (const one of links) one.classList.toggle("here", one.firstElementChild.hash === location.hash);
  };

  const step = (way, chosen) => {
    const all = items().filter(chosen);
    const from = document.activeElement && document.activeElement.closest(".item");
    const place = (one) => from ? from.compareDocumentPosition(one) : Node.DOCUMENT_POSITION_FOLLOWING;
    const next = way > 0
      ? all.find((one) => one !== from && place(one) & Node.DOCUMENT_POSITION_FOLLOWING)
      : all.reverse().find((one) => one !== from && place(one) & Node.DOCUMENT_POSITION_PRECEDING);
    if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest" }); }
  };

  const openAll = () => {
    const all = details();
    const open = all.some((one) => !one.open);
    for (const one of all) one.open = open;
    $("all").textContent = open ? "Close all" : "Open all";
  };

  const search = () => {
    const wanted = $("search").value.trim().toLowerCase();
    let found = 0;
    for (const one of document.querySelectorAll("main .item")) {
      const fits = !wanted || one.textContent.toLowerCase().includes(wanted);
      one.hidden = !fits;
      if (fits && !one.closest(".segment[hidden]")) found += 1;
    }
    $("found").textContent = wanted ? found + " found" : "";
  };

  const keys = {
    j: () => step(1, () => true),
    k: () => step(-1, () => true),
    n: () => step(1, (one) => one.classList.contains("user")),
    p: () => step(-1, (one) => one.classList.contains("user")),
    o: () => {
      const item = document.activeElement && document.activeElement.closest(".item");
      const all = item ? [...item.querySelectorAll("details")] : [];
      const open = all.some((one) => !one.open);
      for (const one of all) one.open = open;
    },
    e: openAll,
    "/": () => $("search").focus(),
    "?": () => $("help").showModal(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (event.target.closest("input")) {
      if (event.key === "Escape") { $("search").value = ""; search(); $("search").blur(); }
      return;
    }
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  $("search").addEventListener("input", search);
  $("all").addEventListener("click", openAll);
  $("keys").addEventListener("click", () => $("help").showModal());
  window.addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    /* A link to where one is already still shows it. */
    const link = event.target.closest("a[href^='#e']");
    if (link && link.getAttribute("href") === location.hash) { event.preventDefault(); reveal(); }
  });
  reveal();
  document.documentElement.dataset.ready = "yes";
})();
