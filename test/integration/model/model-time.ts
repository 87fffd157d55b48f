/** Time of a model: passes when an act says so, and runs what is due on the way. */
import { FakeTime } from '#testing';

export class ModelTime {
  nowMs = 0;
  wallMs = new FakeTime().nowMs();
  readonly #later: { atMs: number; run: () => void }[] = [];

  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const due = this.#later.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#later.splice(this.#later.indexOf(due), 1);
      this.#moveTo(due.atMs);
      due.run();
    }
    this.#moveTo(untilMs);
  }

  protected after(ms: number, run: () => void): void {
    if (ms === 0) run();
    else this.#later.push({ atMs: this.nowMs + ms, run });
  }

  #moveTo(ms: number): void {
    this.wallMs += ms - this.nowMs;
    this.nowMs = ms;
  }
}
