// A document as small as the page's script needs it. Reads {script, data, search, pointer} from stdin, prints {matched, tip, facts}.
"use strict";
const { script, data, search, pointer } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const WIDTH = 1000;
const made = new Map();
const element = id => ({
  id, textContent: "", value: "", hidden: true, clientWidth: WIDTH, style: {}, dataset: {}, children: [], handlers: {},
  append(...parts) { this.children.push(...parts); },
  replaceChildren(...parts) { this.children = parts; },
  remove() {}, blur() {}, focus() {},
  addEventListener(kind, handler) { this.handlers[kind] = handler; },
  getBoundingClientRect: () => ({ left: 0, top: 0, width: WIDTH, height: 400 }),
  getContext: () => new Proxy({}, { get: (known, name) => known[name] || (name === "measureText" ? text => ({ width: 6 * text.length }) : () => {}), set: () => true }),
});
const byId = id => made.get(id) || made.set(id, element(id)).get(id);
byId("data").textContent = JSON.stringify(data);
Object.assign(globalThis, {
  document: { getElementById: byId, createElement: element, documentElement: element("html"), activeElement: null },
  matchMedia: () => ({ matches: false, addEventListener() {} }),
  getComputedStyle: () => ({ getPropertyValue: () => "", paddingLeft: "0" }),
  addEventListener() {}, requestAnimationFrame: draw => draw(), devicePixelRatio: 1, innerHeight: 800, innerWidth: WIDTH, location: { hash: "" },
});
(0, eval)(script);
byId("search").value = search;
byId("search").handlers.input();
byId("canvas").handlers.pointermove({ pointerType: "mouse", clientX: pointer[0], clientY: pointer[1] });
const tip = byId("tip").children.map(part => part.textContent);
console.log(JSON.stringify({ matched: byId("matched").textContent, tip, facts: byId("facts").textContent }));
