/** The look of /docs: no external asset, light and dark by the reader's system. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#111827, #e5e7eb); --soft: light-dark(#4b5563, #9ca3af);
  --line: light-dark(#e5e7eb, #1f2937); --page: light-dark(#ffffff, #0b0f17); --panel: light-dark(#f9fafb, #111827);
  --accent: light-dark(#1d4ed8, #93c5fd); }
* { box-sizing: border-box }
html { scroll-behavior: smooth; scroll-padding-top: 1rem }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto } }
body { margin: 0; font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--page);
  display: grid; grid-template-columns: minmax(15rem, 20rem) minmax(0, 1fr) }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line) }
nav a { display: flex; gap: .5rem; align-items: baseline; padding: .2rem .4rem; border-radius: .3rem; color: var(--soft);
  text-decoration: none; font-size: .85rem }
nav a:hover, nav a:focus-visible { background: var(--panel); color: var(--ink) }
nav h2 { font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 1.2rem .4rem .3rem }
main { padding: 2rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 68rem }
h1 { margin: 0 0 .25rem; font-size: 1.75rem } main > h2 { margin: 3.5rem 0 .25rem; font-size: 1.25rem }
a { color: var(--accent) } p { margin: .4rem 0 } .soft { color: var(--soft) }
article { border: 1px solid var(--line); border-radius: .6rem; margin: 1.25rem 0; padding: 1.1rem 1.25rem }
article h3 { margin: 0; font-size: 1.02rem; display: flex; flex-wrap: wrap; gap: .6rem; align-items: center }
article h4 { margin: 1.1rem 0 .3rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .05em; color: var(--soft) }
.path, code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .86em }
.path { overflow-wrap: anywhere }
.chip { font: 600 .68rem/1 ui-monospace, Menlo, Consolas, monospace; padding: .3rem .45rem; border-radius: .3rem; color: #fff;
  min-width: 3.6rem; text-align: center; flex: none }
.get { background: #1d4ed8 } .post { background: #15803d } .patch { background: #b45309 } .delete { background: #b91c1c }
.caller { font-size: .75rem; color: var(--soft); border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .6rem }
.table { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .87rem }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line) }
th { border-top: 0; font-weight: 500; color: var(--soft) } td:first-child { white-space: nowrap }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem; overflow-x: auto; margin: .3rem 0 }
details > summary { cursor: pointer; color: var(--accent); font-size: .87rem; margin: .3rem 0 }
@media (max-width: 52rem) { body { display: block } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line) } }
`;
