/** The log of a Redis that can be away, forget, and hold back what is read of it. */
import type { ControlLog, ControlLogEntry, ControlLogPart, ControlWord } from '#contracts';
import type { SharedControlEvents } from './shared-control-events.js';

export class FakeControlLog implements ControlLog {
  entries: ControlLogEntry[] = [];
  isAway = false;
  ageMs = 0;
  #count = 0;

  async append(text: string): Promise<void> {
    if (this.isAway) throw new Error('away');
    this.#count += 1;
    this.entries.push({ cursor: String(this.#count), text, ageMs: this.ageMs });
  }

  async readAfter(cursor: string | null, countMax: number): Promise<ControlLogPart> {
    if (this.isAway) throw new Error('away');
    const entries = this.entries.filter((entry) => Number(entry.cursor) > Number(cursor ?? 0));
    const isBroken =
      cursor !== null && entries.length > 0 && !this.entries.some((entry) => entry.cursor === cursor);
    return { entries: entries.slice(0, countMax), isBroken };
  }
}

/** A gateway's way to it: each thing comes when `port` lets it, and nothing while `isAway`. */
export const logBehind = (
  log: FakeControlLog,
  port: (what: string) => Promise<void>,
  isAway = () => false,
): ControlLog => ({
  async append(text) {
    await port('append');
    if (isAway()) throw new Error('away');
    await log.append(text);
    await port('appended');
  },
  async readAfter(cursor, countMax) {
    await port('read');
    if (isAway()) throw new Error('away');
    const part = await log.readAfter(cursor, countMax);
    await port('have read');
    return part;
  },
});

export const OPERATOR = { tenant_id: 't', operator_id: 'ann', role: 'admin' } as const;

/** Sets one limit of one agent. */
export const limitWord = (calls: number, agent_id = 'bot'): ControlWord => ({
  ...OPERATOR,
  act: { kind: 'policy', agent_id, patch: { session_calls_max: calls } },
});

/** Hears nothing of what becomes of words. */
export const SILENT_EVENTS = Object.fromEntries(
  ['told', 'obeyed', 'notObeyed', 'unreadable', 'missed', 'lost', 'unreachable'].map((name) => [
    name,
    () => {},
  ]),
) as unknown as SharedControlEvents;
