import { beforeEach, expect, it } from 'vitest';
import type { AlertDelivery, AlertNotice } from '#contracts';
import { CIRCUIT_OPEN_MS_MAX, CLOSED_CIRCUIT } from '#domain/alerts';
import { DeliveryLane, type Entry } from './delivery-lane.js';

let lane: DeliveryLane;
let seq: number;

beforeEach(() => {
  lane = new DeliveryLane('default');
  seq = 0;
});

/** The next one that was stored, due at once. */
function added(changes: Partial<Entry> = {}, told: Partial<AlertNotice> = {}): Entry {
  seq += 1;
  const notice = { rule_id: 'rule', agent_id: 'agent', ...told } as AlertNotice;
  const delivery = { delivery_id: `dlv_${seq}`, seq, state: 'pending', notice } as AlertDelivery;
  const state = { isRunning: false, isWriting: false, isSaved: true };
  const entry = { delivery, dueMs: 0, dueSaidMs: 0, sinceSteadyMs: 0, ...state, ...changes };
  lane.add(entry);
  return entry;
}

it('sends nothing that is not stored', () => {
  const entry = added({ isSaved: false });
  expect([lane.take(10), lane.nextDueMs(10)]).toEqual([null, null]);
  entry.isSaved = true;
  expect(lane.take(10)).toBe(entry);
});

it('sends what is told of one alert in turn, and does not wait with another rule of the agent, or another agent of the rule', () => {
  const first = added();
  const second = added();
  const others = [added({}, { rule_id: 'other' }), added({}, { agent_id: 'other' })];
  const taken = [lane.take(10)];
  lane.release(first);
  first.dueMs = 1_000;
  taken.push(lane.take(10), lane.take(10));
  expect(taken).toEqual([first, ...others]);
  for (const other of others) {
    lane.release(other);
    other.delivery.state = 'delivered';
  }
  expect(lane.take(10)).toBeNull();
  // What has arrived stands in nobody's way while that is written.
  first.delivery.state = 'delivered';
  expect(lane.take(10)).toBe(second);
});

it('sends nothing beside what is under way for the same alert, though an older one was put back', () => {
  const older = added();
  lane.remove(older);
  const newer = added();
  expect(lane.take(10)).toBe(newer);
  lane.add(older);
  expect([lane.take(10), lane.nextDueMs(10)]).toEqual([null, null]);
  lane.release(newer);
  expect(lane.take(10)).toBe(older);
});

it('brings the beginning of an alert forward for what waits behind it, and not what is due in its turn', () => {
  const late = added({ dueMs: 1_000_000 });
  lane.hasten(added(), 10);
  expect(late).toMatchObject({ dueMs: 10, dueSaidMs: 10 });
  const due = added({ dueMs: 3 }, { agent_id: 'other' });
  lane.hasten(due, 10);
  expect(due.dueMs).toBe(3);
  expect(lane.take(10)).toBe(due);
});

it('brings it forward for good though the clock was set back to before it was put off', () => {
  const late = added({ dueMs: 1_000_000, dueSaidMs: 1_000 });
  lane.hasten(added(), 10);
  expect(lane.take(2_000)).toBe(late);
});

it('waits only for the end of a rest with what was due before the clock was set back', () => {
  added({ dueMs: 1_000_000, dueSaidMs: 1_000_000 });
  lane.circuit = { ...CLOSED_CIRCUIT, retryAtMs: 500 };
  expect([lane.take(10), lane.nextDueMs(10)]).toEqual([null, 500]);
});

it('waits only for what is due behind a rest that began before the clock was set back', () => {
  added({ dueMs: 500 });
  lane.circuit = { ...CLOSED_CIRCUIT, retryAtMs: 10 + CIRCUIT_OPEN_MS_MAX + 1 };
  expect([lane.take(10), lane.nextDueMs(10)]).toEqual([null, 500]);
});

it('sends first what has been due for longest', () => {
  const [later, earlier] = [added({ dueMs: 5 }), added({ dueMs: 3 }, { agent_id: 'other' })];
  expect([lane.take(10), lane.take(10)]).toEqual([earlier, later]);
});
