"use strict";
// Draws the tree that stands as JSON in #data. All text goes to the page as text, never as markup.
(() => {
  const byId = id => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  byId("data").remove();
  const canvas = byId("canvas"), brush = canvas.getContext("2d");
  const tip = byId("tip"), detail = byId("detail"), search = byId("search");
  const ROW = 19, FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";

  // ---- the tree: preorder of (frame, samples, value, number of children) ----
  const count = data.nodes.length / 4;
  const frame = new Uint32Array(count), samples = new Float64Array(count), value = new Float64Array(count);
  const left = new Float64Array(count), depth = new Uint16Array(count), parent = new Int32Array(count);
  const end = new Uint32Array(count);          // first node behind the subtree
  const levels = [];
  {
    const open = [];                             // [node, children to come, next left]
    for (let n = 0; n < count; n++) {
      while (open.length && open[open.length - 1][1] === 0) end[open.pop()[0]] = n;
      const above = open[open.length - 1];
      frame[n] = data.nodes[4 * n];
      samples[n] = data.nodes[4 * n + 1];
      value[n] = data.nodes[4 * n + 2];
      depth[n] = open.length;
      parent[n] = above ? above[0] : -1;
      left[n] = above ? above[2] : 0;
      if (above) { above[1]--; above[2] += value[n]; }
      (levels[open.length] ||= []).push(n);
      open.push([n, data.nodes[4 * n + 3], left[n]]);
    }
    while (open.length) end[open.pop()[0]] = count;
  }
  const total = value[0] || 1;
  const name = n => data.frames[frame[n]][0];
  // Parts of a node by kind, where it is not all of its frame's kind: [kind, value] each, the largest first.
  const parts = new Map(data.kinds.map(([n, ...numbers]) => {
    const pairs = [];
    for (let i = 0; i < numbers.length; i += 2) pairs.push([numbers[i], numbers[i + 1]]);
    return [n, pairs.sort((a, b) => b[1] - a[1])];
  }));
  const kind = n => parts.has(n) ? parts.get(n)[0][0] : data.frames[frame[n]][1];
  const foldedIn = new Map(data.folded_values);  // value of the children that were left out, by node

  // ---- words ----
  const number = new Intl.NumberFormat("en");
  const time = ns => ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(0) + " ms" : (ns / 1e3).toFixed(0) + " us";
  const size = b => { let u = 0; while (b >= 1024 && u < 4) { b /= 1024; u++; } return b.toFixed(u ? 1 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][u]; };
  const plain = v => number.format(v);
  const unit = { cpu_ns: ["CPU", time], wall_ns: ["wall time", time], lock_ns: ["waiting", time], bytes: ["allocated", size], samples: ["samples", plain] }[data.unit]
    || [data.unit, plain];
  const percent = part => (100 * part).toFixed(part < 0.0995 ? 2 : 1) + " %";
  const amount = n => {
    const parts = data.unit === "samples" ? [] : [unit[1](value[n]) + " " + unit[0]];
    parts.push(number.format(samples[n]) + (samples[n] === 1 ? " sample" : " samples"), percent(value[n] / total) + " of all");
    if (zoom && n >= zoom && n < end[zoom]) parts.push(percent(value[n] / value[zoom]) + " of the zoom");
    return parts.join(" · ");
  };

  // ---- colours: by kind, a little apart by name ----
  const KINDS = [["label", 262, 46], ["compiled", 132, 42], ["inlined", 178, 42], ["interpreted", 82, 44], ["native", 4, 62],
    ["C++", 46, 70], ["kernel", 24, 72], ["no stack", 220, 6]];
  const root = document.documentElement;
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const hashes = data.frames.map(([text, k]) => {
    let h = 2166136261;
    const part = k === 0 ? text : text.slice(0, text.lastIndexOf(".") + 1 || text.length);
    for (let i = 0; i < part.length; i++) h = Math.imul(h ^ part.charCodeAt(i), 16777619);
    return (h >>> 8) & 255;
  });
  let fills = new Map();
  const fill = (k, h) => {
    const [, hue, saturation] = KINDS[k] || KINDS[7];
    const spread = k === 0 ? 40 : 14;
    const light = dark ? 27 + h % 9 : 74 + h % 9;
    return `hsl(${hue + (h / 255 - 0.5) * spread} ${saturation}% ${light}%)`;
  };
  const fillOf = n => {
    const k = kind(n), h = hashes[frame[n]], key = k << 8 | h;
    let known = fills.get(key);
    if (known === undefined) fills.set(key, known = fill(k, h));
    return known;
  };
  const kindsOf = n => {
    const all = parts.get(n);
    if (!all || all.length === 1) return KINDS[kind(n)][0];
    return all.map(([k, v]) => KINDS[k][0] + " " + percent(v / value[n])).join(", ");
  };
  const paint = () => {
    root.dataset.theme = dark ? "dark" : "light";
    fills = new Map();
    const legend = byId("legend");
    legend.replaceChildren();
    const seen = new Set();
    for (let n = 0; n < count; n++) seen.add(kind(n));
    KINDS.forEach(([text], k) => {
      if (!seen.has(k) || (k === 0 && !data.by.length)) return;
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.background = fill(k, 128);
      item.append(swatch, text);
      legend.append(item);
    });
  };

  // ---- state ----
  let zoom = 0, hover = -1, chosen = -1, matches = null;
  let width = 0, scale = 1;

  const draw = () => {
    const style = getComputedStyle(root);
    const ink = style.getPropertyValue("--ink"), paper = style.getPropertyValue("--paper"), mark = style.getPropertyValue("--mark");
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    brush.fillStyle = paper;
    brush.fillRect(0, 0, canvas.width, canvas.height);
    brush.font = FONT;
    brush.textBaseline = "middle";
    const x0 = left[zoom], factor = width / (value[zoom] || 1);
    const top = Math.max(0, Math.floor((-canvas.getBoundingClientRect().top) / ROW) - 1);
    const bottom = Math.min(levels.length, top + Math.ceil(innerHeight / ROW) + 3);
    for (let level = top; level < bottom; level++) {
      const row = levels[level], y = level * ROW;
      if (level < depth[zoom]) {                 // ancestors of the zoom: full width, faded
        let n = zoom;
        while (depth[n] > level) n = parent[n];
        box(n, 0, width, y, 0.55, ink, mark);
        continue;
      }
      let low = 0, high = row.length;
      while (low < high) { const middle = (low + high) >> 1; if (row[middle] < zoom) low = middle + 1; else high = middle; }
      let filled = -1;                           // thin boxes: one per pixel is enough
      for (; low < row.length && row[low] < end[zoom]; low++) {
        const n = row[low], x = (left[n] - x0) * factor, w = value[n] * factor;
        if (w < 0.6) {
          const pixel = Math.floor(x);
          if (pixel === filled && !(matches && matches[frame[n]])) continue;
          filled = pixel;
          brush.globalAlpha = 0.7;
          brush.fillStyle = matches && matches[frame[n]] ? mark : fillOf(n);
          brush.fillRect(pixel, y, 1, ROW - 1);
          brush.globalAlpha = 1;
          continue;
        }
        box(n, x, w, y, 1, ink, mark);
      }
    }
  };
  const box = (n, x, w, y, alpha, ink, mark) => {
    const hit = matches && matches[frame[n]];
    brush.globalAlpha = matches && !hit ? alpha * 0.42 : alpha;
    brush.fillStyle = hit ? mark : fillOf(n);
    const gap = w > 3 ? 0.7 : 0;
    brush.fillRect(x, y, Math.max(w - gap, 0.5), ROW - 1);
    if (n === hover || n === chosen) {
      brush.globalAlpha = 1;
      brush.strokeStyle = ink;
      brush.lineWidth = 1.5;
      brush.strokeRect(x + 0.75, y + 0.75, Math.max(w - 2, 1), ROW - 2.5);
    }
    if (w < 26) { brush.globalAlpha = 1; return; }
    brush.globalAlpha = matches && !hit ? 0.65 : 1;
    brush.fillStyle = hit ? "#fff" : ink;
    brush.fillText(fit(name(n), w - 7), x + 4, y + ROW / 2, w - 5);
    brush.globalAlpha = 1;
  };
  // Method names matter most: first the packages go, then the class, then the tail.
  brush.font = FONT;
  const sample = "abcdefghijklmnopqrstuvwxyz.ABCDEFGHIJabcdefghijklmnopqrstuvwxyz";
  const letter = brush.measureText(sample).width / sample.length;
  const briefs = new Map();
  const fit = (text, room) => {
    const places = Math.floor(room / letter);
    if (text.length <= places) return text;
    let brief = briefs.get(text);
    if (brief === undefined) {
      const parts = text.includes("=") || text.startsWith("(") ? [text] : text.split(".");
      brief = [parts.slice(-2).join("."), parts[parts.length - 1]];
      briefs.set(text, brief);
    }
    const fitting = brief.find(t => t.length <= places);
    if (fitting !== undefined) return fitting;
    return places > 2 ? brief[1].slice(0, places - 1) + "…" : "";
  };

  let pending = false;
  const redraw = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; draw(); });
  };
  const resize = () => {
    width = byId("graph").clientWidth - parseFloat(getComputedStyle(byId("graph")).paddingLeft) * 2;
    // A canvas may not be endless: very deep graphs are drawn less finely.
    const height = levels.length * ROW;
    scale = Math.min(devicePixelRatio || 1, 32000 / height, 8192 / width);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = height + "px";
    draw();
  };

  // ---- find, zoom, search ----
  const at = event => {
    const area = canvas.getBoundingClientRect();
    const level = Math.floor((event.clientY - area.top) / ROW), x = event.clientX - area.left;
    if (level < 0 || level >= levels.length || x < 0 || x > width) return -1;
    if (level < depth[zoom]) { let n = zoom; while (depth[n] > level) n = parent[n]; return n; }
    const wanted = left[zoom] + x / width * value[zoom], row = levels[level];
    let low = 0, high = row.length;
    while (low < high) { const middle = (low + high) >> 1; if (left[row[middle]] <= wanted) low = middle + 1; else high = middle; }
    const n = row[low - 1];
    return low > 0 && n >= zoom && n < end[zoom] && wanted < left[n] + value[n] ? n : -1;
  };
  const tell = n => { detail.textContent = n < 0 ? hint : name(n) + " — " + amount(n); };
  const hint = "Click zooms, Esc resets, / searches, arrows and Enter walk.";
  const zoomTo = n => {
    zoom = n;
    const path = byId("path");
    path.replaceChildren();
    if (n) {
      const steps = [];
      for (let at = n; at >= 0; at = parent[at]) steps.unshift(at);
      const shown = steps.length > 7 ? [steps[0], -1, ...steps.slice(-5)] : steps;
      shown.forEach((step, i) => {
        if (i) { const sign = document.createElement("span"); sign.textContent = "›"; path.append(sign); }
        if (step < 0) { const dots = document.createElement("span"); dots.textContent = "…"; path.append(dots); return; }
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = name(step);
        button.addEventListener("click", () => zoomTo(step));
        path.append(button);
      });
    }
    showMatched();
    resize();
  };
  const look = () => {
    const text = search.value.trim();
    matches = null;
    if (text) {
      let test;
      const pattern = /^\/(.+)\/$/.exec(text);
      if (pattern) { try { const regex = new RegExp(pattern[1], "i"); test = t => regex.test(t); } catch { test = () => false; } }
      else { const lower = text.toLowerCase(); test = t => t.toLowerCase().includes(lower); }
      matches = data.frames.map(([t]) => test(t));
    }
    showMatched();
    redraw();
  };
  // Share of what is shown that lies in or below a matching frame; a match inside of a match counts once. What was folded may match or not.
  const showMatched = () => {
    const matched = byId("matched");
    matched.textContent = "";
    if (!matches) return;
    let sum = 0, unknown = 0;
    for (let n = zoom; n < end[zoom];) {
      if (matches[frame[n]]) { sum += value[n]; n = end[n]; }
      else { unknown += foldedIn.get(n) || 0; n++; }
    }
    const all = value[zoom] || 1;
    matched.textContent = unknown === 0 ? percent(sum / all) + " matched"
      : "at least " + percent(sum / all) + " matched, at most " + percent((sum + unknown) / all) + " (frames were folded)";
  };
  const reset = () => { search.value = ""; chosen = -1; look(); zoomTo(0); tell(-1); };

  // ---- hands ----
  const place = event => {
    const margin = 14, box = tip.getBoundingClientRect();
    let x = event.clientX + margin, y = event.clientY + margin;
    if (x + box.width > innerWidth - 4) x = Math.max(4, event.clientX - box.width - margin);
    if (y + box.height > innerHeight - 4) y = Math.max(4, event.clientY - box.height - margin);
    tip.style.left = x + "px";
    tip.style.top = y + "px";
  };
  canvas.addEventListener("pointermove", event => {
    if (event.pointerType === "touch") return;
    const n = at(event);
    if (n !== hover) {
      hover = n;
      canvas.style.cursor = n < 0 ? "default" : "pointer";
      tip.hidden = n < 0;
      if (n >= 0) {
        const head = document.createElement("b"), body = document.createElement("span");
        head.textContent = name(n);
        body.textContent = kindsOf(n) + " · " + amount(n);
        tip.replaceChildren(head, body);
        tell(n);
      }
      redraw();
    }
    if (n >= 0) place(event);
  });
  canvas.addEventListener("pointerleave", () => { hover = -1; tip.hidden = true; tell(chosen); redraw(); });
  canvas.addEventListener("click", event => {
    const n = at(event);
    if (n < 0) return;
    chosen = -1;
    tip.hidden = true;
    zoomTo(n);
    tell(n);
  });
  canvas.addEventListener("keydown", event => {
    const now = chosen < 0 ? zoom : chosen;
    let next = now;
    if (event.key === "ArrowDown") { if (now + 1 < end[now]) next = widest(now); }
    else if (event.key === "ArrowUp") { if (parent[now] >= 0) next = parent[now]; }
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const row = levels[depth[now]], i = row.indexOf(now) + (event.key === "ArrowRight" ? 1 : -1);
      if (i >= 0 && i < row.length) next = row[i];
    } else if (event.key === "Enter") { zoomTo(now); tell(now); event.preventDefault(); return; }
    else return;
    event.preventDefault();
    chosen = next;
    tell(next);
    redraw();
  });
  const widest = n => {
    let best = n + 1;
    for (let child = n + 1; child < end[n]; child = end[child]) if (value[child] > value[best]) best = child;
    return best;
  };
  search.addEventListener("input", look);
  byId("tools").addEventListener("submit", event => event.preventDefault());
  byId("reset").addEventListener("click", reset);
  const turn = () => { dark = !dark; paint(); redraw(); };
  byId("theme").addEventListener("click", turn);
  addEventListener("keydown", event => {
    if (event.key === "Escape") { reset(); search.blur(); }
    else if (document.activeElement !== search && !event.ctrlKey && !event.metaKey && !event.altKey) {
      if (event.key === "/") { search.focus(); event.preventDefault(); }
      else if (event.key === "t") turn();
    }
  });
  addEventListener("resize", resize);
  addEventListener("scroll", redraw, { passive: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", event => { dark = event.matches; paint(); redraw(); });

  // ---- first picture ----
  byId("title").textContent = data.title;
  const facts = [];
  if (data.unit !== "samples") facts.push(unit[1](data.value) + " " + unit[0]);
  facts.push(number.format(data.samples) + " samples");
  if (data.unit === "cpu_ns" && data.covered_ns > 0) facts.push("over " + time(data.covered_ns) + " = " + (data.value / data.covered_ns).toFixed(2) + " cores");
  if (data.by.length) facts.push("by " + data.by.join(", "));
  if (data.where.length) facts.push("where " + data.where.join(" and "));
  if (data.interval_assumed) facts.push("interval assumed");
  if (data.folded) facts.push("thinnest frames left out");
  if (data.damaged) facts.push("file only partly readable");
  byId("facts").textContent = facts.join(" · ");
  paint();
  tell(-1);
  const asked = /^#q=(.+)$/.exec(location.hash);   // a link may bring its search along
  if (asked) {
    try { search.value = decodeURIComponent(asked[1]); } catch { search.value = asked[1]; }
    look();
  }
  resize();
})();
