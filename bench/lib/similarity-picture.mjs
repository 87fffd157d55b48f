/** A line chart as SVG: light, with axes and names where the lines end. Pure text. */

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {{ name: string, colour: string, points: Point[], marks: (Point & { label: string, isLeft?: boolean })[] }} Line */
/** @typedef {{ title: string, subtitle: string, x: Axis, y: Axis, lines: Line[] }} Chart */
/** @typedef {{ title: string, min: number, max: number, step: number, format: (value: number) => string }} Axis */

const size = { width: 760, height: 470 };
const plot = { left: 72, top: 76, right: 560, bottom: 404 };
export const colours = { none: '#b45309', vetoes: '#2563eb', strict: '#047857', answer: '#047857' };

const escapeText = (/** @type {string} */ text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;

/** @param {string} text @param {number} x @param {number} y @param {string} more attributes */
const label = (text, x, y, more = '') =>
  `<text x="${round(x)}" y="${round(y)}"${more}>${escapeText(text)}</text>`;

/** @param {Axis} axis @returns {number[]} */
function ticks({ min, max, step }) {
  const values = [];
  for (let at = 0; min + at * step <= max + step / 1e6; at += 1) values.push(min + at * step);
  return values;
}

/** @param {Chart} chart @returns {string} */
export function drawChart({ title, subtitle, x, y, lines }) {
  const clamp = (/** @type {number} */ value, /** @type {Axis} */ axis) =>
    Math.min(axis.max, Math.max(axis.min, value));
  const xOf = (/** @type {number} */ value) =>
    plot.left + ((clamp(value, x) - x.min) / (x.max - x.min)) * (plot.right - plot.left);
  const yOf = (/** @type {number} */ value) =>
    plot.bottom - ((clamp(value, y) - y.min) / (y.max - y.min)) * (plot.bottom - plot.top);
  const grid = [
    ...ticks(x).flatMap((value) => [
      `<line class="grid" x1="${round(xOf(value))}" y1="${plot.top}" x2="${round(xOf(value))}" y2="${plot.bottom}"/>`,
      label(x.format(value), xOf(value), plot.bottom + 18, ' text-anchor="middle"'),
    ]),
    ...ticks(y).flatMap((value) => [
      `<line class="grid" x1="${plot.left}" y1="${round(yOf(value))}" x2="${plot.right}" y2="${round(yOf(value))}"/>`,
      label(y.format(value), plot.left - 8, yOf(value) + 4, ' text-anchor="end"'),
    ]),
  ];
  const drawn = lines.flatMap(({ colour, points, marks }) => [
    `<polyline fill="none" stroke="${colour}" stroke-width="2.2" stroke-linejoin="round" points="${points.map((point) => `${round(xOf(point.x))},${round(yOf(point.y))}`).join(' ')}"/>`,
    ...marks.flatMap((mark) => [
      `<circle cx="${round(xOf(mark.x))}" cy="${round(yOf(mark.y))}" r="4.5" fill="#fff" stroke="${colour}" stroke-width="2.2"/>`,
      label(
        mark.label,
        xOf(mark.x) + (mark.isLeft ? -8 : 8),
        yOf(mark.y) - 7,
        ` class="mark" style="fill:${colour};text-anchor:${mark.isLeft ? 'end' : 'start'}"`,
      ),
    ]),
  ]);
  const legend = lines.flatMap(({ name, colour }, at) => [
    `<rect x="${plot.right + 18}" y="${plot.top + 4 + at * 24}" width="18" height="4" rx="2" fill="${colour}"/>`,
    label(name, plot.right + 42, plot.top + 11 + at * 24),
  ]);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img" aria-label="${escapeText(title)}">
<style>text{font:13px system-ui,sans-serif;fill:#374151}.title{font-size:17px;font-weight:600;fill:#111827}.mark{font-size:12px;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:3px}.grid{stroke:#e5e7eb}.axis{stroke:#6b7280}</style>
<rect width="${size.width}" height="${size.height}" fill="#fff"/>
${label(title, plot.left, 30, ' class="title"')}
${label(subtitle, plot.left, 52)}
${grid.join('\n')}
<line class="axis" x1="${plot.left}" y1="${plot.bottom}" x2="${plot.right}" y2="${plot.bottom}"/>
<line class="axis" x1="${plot.left}" y1="${plot.top}" x2="${plot.left}" y2="${plot.bottom}"/>
${label(x.title, (plot.left + plot.right) / 2, plot.bottom + 44, ' text-anchor="middle"')}
${label(y.title, 0, 0, ` text-anchor="middle" transform="translate(20 ${(plot.top + plot.bottom) / 2}) rotate(-90)"`)}
${drawn.join('\n')}
${legend.join('\n')}
</svg>
`;
}
