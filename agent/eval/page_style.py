"""The style and the filter script of a result's page, as they stand in it."""

STYLE = """
:root { --paper:#fbfaf6; --card:#fff; --ink:#22302b; --soft:#66716c; --line:#d9dcd3; --accent:#2f6f5e; --second:#8a6a1f; --bad:#b0402f;
  --wash:#eef3ee; --sans:system-ui,-apple-system,"Segoe UI","Noto Sans",Roboto,sans-serif; --serif:Georgia,"Noto Serif",Cambria,serif; }
@media (prefers-color-scheme: dark) { :root { --paper:#161b19; --card:#1d2421; --ink:#e4e9e5; --soft:#97a39d; --line:#39423e;
  --accent:#6fb8a1; --second:#d0ab57; --bad:#e98674; --wash:#232c28; } }
* { box-sizing:border-box }
body { margin:0; background:var(--paper); color:var(--ink); font:16px/1.5 var(--sans) }
main { max-width:68rem; margin:0 auto; padding:2.5rem 1.25rem 5rem }
h1 { font:600 2rem/1.15 var(--serif); margin:0; letter-spacing:-.01em }
h2 { font:600 1.3rem/1.2 var(--serif); margin:0 0 .35rem }
h3 { font-size:.78rem; font-weight:600; color:var(--soft); margin:1rem 0 .35rem }
h3:first-child { margin-top:0 }
small { color:var(--soft); font-size:.8rem; font-weight:400 }
code { font:.82em ui-monospace,"SF Mono","DejaVu Sans Mono",Menlo,monospace }
header { border-bottom:3px double var(--line); padding-bottom:1.25rem; margin-bottom:2.25rem }
.date { color:var(--soft); margin:.3rem 0 1rem }
.counts { display:flex; flex-wrap:wrap; gap:.5rem 1.75rem; list-style:none; margin:0; padding:0; color:var(--soft) }
.counts b { font:600 1.5rem var(--serif); color:var(--ink); font-variant-numeric:tabular-nums }
.counts .right b { color:var(--accent) } .counts .wrong b { color:var(--bad) }
section { margin:0 0 2.75rem; min-width:0 }
.intro { color:var(--soft); margin:0 0 1rem; max-width:46rem } .of { margin:0 0 .5rem; font-weight:600 }
.pair { display:grid; grid-template-columns:repeat(auto-fit,minmax(21rem,1fr)); gap:0 2.5rem }
figure { margin:0 0 1rem; max-width:44rem } svg { width:100%; height:auto; display:block; overflow:visible; font-family:var(--sans) }
.wide { overflow-x:auto }
table { border-collapse:collapse; width:100%; margin:0 0 1.5rem; font-variant-numeric:tabular-nums }
h3.part, details.part summary { font-size:1rem; font-weight:600; color:var(--ink); margin:0; padding:.5rem 0 }
.part small { margin-left:.4rem }
details.part { border-bottom:1px solid var(--line) }
details.part summary { cursor:pointer } details.part summary:hover { background:var(--wash) }
.part span { float:right; font-weight:400; font-variant-numeric:tabular-nums; color:var(--soft) } .part span b { color:var(--ink) }
th, td { padding:.45rem .75rem .45rem 0; text-align:left; vertical-align:top; border-bottom:1px solid var(--line) }
tbody th { font-weight:600; padding-right:1.5rem }
tbody th small, td small { display:block }
thead th { font-size:.8rem; color:var(--soft); font-weight:600; border-bottom-color:var(--soft) }
thead td { border-bottom-color:var(--soft) }
td { min-width:7.5rem } .unscored, .empty { color:var(--soft); font-style:italic }
.range { display:block; position:relative; height:4px; margin:.3rem 0 .15rem; width:7rem; background:var(--line); border-radius:2px }
.range i { position:absolute; top:0; bottom:0; background:var(--accent); opacity:.45; border-radius:2px }
.range b { position:absolute; top:-3px; width:2px; height:10px; background:var(--ink) }
.real_drop { color:var(--bad); font-weight:600 } .real_gain { color:var(--accent); font-weight:600 }
.filters { display:flex; flex-wrap:wrap; gap:.5rem 1rem; align-items:center; position:sticky; top:0; z-index:1; background:var(--paper);
  padding:.6rem 0; border-bottom:1px solid var(--line); font-size:.9rem; color:var(--soft) }
.filters input { flex:1 1 16rem } .filters output { margin-left:auto; font-variant-numeric:tabular-nums }
input, select { font:inherit; color:var(--ink); background:var(--card);
  border:1px solid var(--line); border-radius:4px; padding:.35rem .5rem }
:focus-visible { outline:2px solid var(--accent); outline-offset:1px }
.question { border-bottom:1px solid var(--line) }
.question summary { display:grid; grid-template-columns:1rem 4.5rem minmax(14rem,1fr) auto; gap:.15rem .75rem; padding:.65rem .25rem;
  cursor:pointer; align-items:baseline; list-style:none }
.question summary::-webkit-details-marker { display:none }
.question summary:hover, .question[open] summary { background:var(--wash) }
.mark { width:.62rem; height:.62rem; border-radius:50%; background:var(--accent); justify-self:center }
.question.wrong .mark { background:var(--bad); border-radius:1px } .not_scored .mark { background:none; border:2px solid var(--soft) }
.id { color:var(--soft); font-size:.85rem; font-variant-numeric:tabular-nums } .asked { text-wrap:pretty }
.tags { display:flex; flex-wrap:wrap; gap:.25rem .4rem; justify-content:flex-end; max-width:26rem }
.tags span { font-size:.75rem; padding:0 .45rem; border-radius:3px; border:1px solid var(--line); color:var(--soft); white-space:nowrap }
.tags .wrong { color:var(--bad); border-color:currentColor } .tags .held { border-style:dashed }
.inside { display:grid; grid-template-columns:repeat(auto-fit,minmax(19rem,1fr)); gap:0 2.5rem; padding:.75rem .25rem 1.5rem 2rem }
.inside ol { margin:0; padding-left:1.4rem } .inside li { padding:.12rem 0 } .inside li small { display:block }
.inside li::marker { color:var(--soft); font-variant-numeric:tabular-nums } .inside p { margin:.1rem 0 }
.hit code { font-weight:700; color:var(--accent) }
em { font-style:normal; font-size:.72rem; color:var(--accent); border-bottom:1px solid currentColor; margin-left:.3rem }
blockquote { margin:0; padding:.1rem 0 .1rem .9rem; border-left:3px solid var(--line); white-space:pre-line; overflow-wrap:anywhere }
.absent { color:var(--bad); font-weight:600 } .present { color:var(--accent); font-weight:600 } .time { float:right }
.settings summary { cursor:pointer; color:var(--soft) } .settings table { width:auto; font-size:.85rem; margin-top:.75rem }
.settings th { font-weight:400; color:var(--soft) } .settings th, .settings td { padding-block:.15rem; border:0 }
@media (max-width:44rem) { .question summary { grid-template-columns:1rem 1fr } .asked, .tags { grid-column:2 }
  .tags { justify-content:flex-start } .inside { padding-left:.25rem } h1 { font-size:1.6rem }
  .part span { float:none; display:block } }
@media print { .filters { display:none } body { background:#fff } }
"""

SCRIPT = """
const form = document.querySelector(".filters"), out = form.querySelector("output"), rows = [...document.querySelectorAll(".question")];
const text = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
function filter() {
  const wanted = Object.fromEntries(new FormData(form)), search = (wanted.text || "").trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const hit = (!wanted.outcome || row.dataset.outcome === wanted.outcome) && (!wanted.part || row.dataset.part === wanted.part)
      && (!wanted.tag || row.dataset.tags.includes(" " + wanted.tag + " ")) && text.get(row).includes(search);
    row.hidden = !hit;
    shown += hit;
  }
  out.textContent = out.dataset.text.replace("{shown}", shown).replace("{all}", rows.length);
  document.getElementById("nothing").hidden = shown > 0;
}
form.addEventListener("input", filter);
form.addEventListener("submit", event => event.preventDefault());
filter();
"""
