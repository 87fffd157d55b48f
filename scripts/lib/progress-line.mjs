/** Progress on stderr: one line redrawn in a terminal, a plain line every few seconds elsewhere. */
import { shownText } from './shown-text.mjs';

const redrawMs = 200;
const plainLineMs = 5_000;
const barChars = 20;

export class ProgressLine {
  #stream;
  #render;
  /** @type {NodeJS.Timeout | null} */
  #timer = null;
  #drawn = false;

  /**
   * @param {() => string} render called for each drawing; one line, cut to the terminal's width
   * @param {NodeJS.WriteStream} [stream]
   */
  constructor(render, stream = process.stderr) {
    this.#render = render;
    this.#stream = stream;
  }

  start() {
    this.#timer = setInterval(() => this.#draw(), this.#stream.isTTY ? redrawMs : plainLineMs);
    this.#timer.unref();
  }

  /** Prints a line that stays, above the progress. @param {string} text */
  note(text) {
    this.#clear();
    this.#stream.write(`${shownText(text)}\n`);
    if (this.#stream.isTTY && this.#timer) this.#draw();
  }

  stop() {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#clear();
  }

  #draw() {
    const line = shownText(this.#render());
    if (!this.#stream.isTTY) {
      this.#stream.write(`${line}\n`);
      return;
    }
    this.#clear();
    this.#stream.write(line.slice(0, Math.max(20, (this.#stream.columns ?? 80) - 1)));
    this.#drawn = true;
  }

  #clear() {
    if (!this.#drawn) return;
    this.#stream.write('\r\x1b[2K');
    this.#drawn = false;
  }
}

/** @param {number} fraction 0..1 */
export function bar(fraction) {
  const filled = Math.round(Math.min(Math.max(fraction, 0), 1) * barChars);
  return `[${'#'.repeat(filled)}${'.'.repeat(barChars - filled)}]`;
}
