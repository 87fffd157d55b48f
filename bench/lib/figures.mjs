/**
 * One measured figure against its aim, and how a list of them is shown. A ratio comes first wherever there is a named
 * peer; absolutes stand beside it and belong to the machine they were measured on.
 */

/** @typedef {{ title: string, measured: string, aim: string, ok: boolean | null, absolutes: string }} Figure `ok` null: no aim, or not measured */
/** @typedef {{ figures: Figure[], notes?: string[] }} BenchResult */

/** @param {Figure} figure */
function verdict({ ok }) {
  return ok === null ? '-' : ok ? 'pass' : 'falls short';
}

/**
 * @param {Figure[]} figures
 * @returns {string} a Markdown table that is readable as plain text too
 */
export function formatTable(figures) {
  const rows = [
    ['figure', 'measured', 'aim', '', 'absolutes'],
    ...figures.map((figure) => [
      figure.title,
      figure.measured,
      figure.aim,
      verdict(figure),
      figure.absolutes,
    ]),
  ];
  const widths = rows.reduce(
    (/** @type {number[]} */ into, row) => row.map((cell, at) => Math.max(cell.length, into[at] ?? 3)),
    [],
  );
  const lines = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return lines.join('\n');
}

/** As a bench prints it. @param {BenchResult} result @returns {string} */
export const formatResult = ({ figures, notes = [] }) =>
  `${formatTable(figures)}\n${notes.map((note) => `\n${note}\n`).join('')}`;

/** @param {string} name */
const beginOf = (name) => `<!-- measured:${name}:begin (written by bench/run.mjs) -->`;
/** @param {string} name */
const endOf = (name) => `<!-- measured:${name}:end -->`;

/**
 * @param {string} name
 * @param {BenchResult} result
 * @param {{ command: string, machine: string, date: Date }} run
 * @returns {string} Markdown
 */
export function sectionOf(name, { figures, notes = [] }, { command, machine, date }) {
  const when = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const lines = [`## ${name}`, '', `${when}, \`${command}\`, ${machine}.`, '', formatTable(figures)];
  return [...lines, ...notes.flatMap((note) => ['', note])].join('\n');
}

/**
 * Puts a bench's section between its markers and leaves every other word of the page alone; adds it at the end of a
 * page that has none.
 *
 * @param {string} page
 * @param {string} name
 * @param {string} section
 * @returns {string}
 */
export function replaceMeasured(page, name, section) {
  const block = `${beginOf(name)}\n\n${section.trim()}\n\n${endOf(name)}`;
  const from = page.indexOf(beginOf(name));
  const to = page.indexOf(endOf(name));
  if (from < 0 || to < from) return `${page.trimEnd()}\n\n${block}\n`.trimStart();
  return page.slice(0, from) + block + page.slice(to + endOf(name).length);
}
