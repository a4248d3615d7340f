// Point at a match, in the picture or in the table, and its events show; click to keep it.
(() => {
  const svg = document.querySelector("svg.sc-t");
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  let kept = null;

  const centre = (mark) => {
    const box = mark.getBBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };

  const clear = () => {
    all(".sc-on").forEach((element) => element.classList.remove("sc-on"));
    all(".sc-link").forEach((element) => element.remove());
  };

  const show = (number) => {
    clear();
    if (number === null) return;
    const belonging = all(`[data-match="${number}"]`);
    belonging.forEach((element) => element.classList.add("sc-on"));
    const bar = svg && svg.querySelector(`[data-match="${number}"]`);
    const source = belonging.find((element) => element.dataset.events);
    if (!svg || !source) return;
    const marks = source.dataset.events.split(" ").map((event) => svg.querySelector(`[data-event="${event}"]`)).filter(Boolean);
    marks.forEach((mark) => mark.classList.add("sc-on"));
    const points = marks.map(centre).sort((a, b) => a[0] - b[0]);
    if (bar && points.length) points.unshift([bar.getBBox().x, bar.getBBox().y + bar.getBBox().height]);
    const link = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    link.setAttribute("class", "sc-link");
    link.setAttribute("points", points.map((point) => point.join(",")).join(" "));
    svg.append(link);
  };

  all("[data-match]").forEach((element) => {
    const number = element.dataset.match;
    element.addEventListener("mouseenter", () => show(number));
    element.addEventListener("mouseleave", () => show(kept));
    element.addEventListener("click", () => {
      kept = kept === number ? null : number;
      show(kept);
      const row = document.querySelector(`tr[data-match="${number}"]`);
      if (kept && row && element.tagName !== "TR") row.scrollIntoView({ block: "nearest" });
    });
  });

  const search = document.querySelector("input[type=search]");
  if (search) {
    search.addEventListener("input", () => {
      const wanted = search.value.toLowerCase();
      all("tr[data-match]").forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
    });
  }

  const asked = /^#match-(\d+)$/.exec(location.hash);
  if (asked) { kept = asked[1]; show(kept); }
})();
