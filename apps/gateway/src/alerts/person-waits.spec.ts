import { describe, expect, it } from 'vitest';
import { sessionKey } from '#contracts';
import { buildSessionView } from '#testing';
import { PersonWaits } from './person-waits.js';

const KEY = sessionKey('default', 's1');
const askedBy = (...asked_by: string[]) => ({ ...buildSessionView().control, asked_by });

describe('an agent waits for a person', () => {
  it('from when its session says that it asked until it does no more, each told once', () => {
    const waits = new PersonWaits();
    expect(waits.note(KEY, askedBy())).toEqual({ began: [], ended: [] });
    expect(waits.note(KEY, askedBy('clerk'))).toEqual({ began: ['clerk'], ended: [] });
    expect(waits.note(KEY, askedBy('clerk'))).toEqual({ began: [], ended: [] });
    expect(waits.note(KEY, askedBy('clerk', 'planner'))).toEqual({ began: ['planner'], ended: [] });
    expect(waits.note(KEY, askedBy())).toEqual({ began: [], ended: ['clerk', 'planner'] });
    expect(waits.note(KEY, askedBy('clerk'))).toEqual({ began: ['clerk'], ended: [] });
  });

  it('as one of its session, and of no other', () => {
    const waits = new PersonWaits();
    waits.note(KEY, askedBy('clerk'));
    expect(waits.note(sessionKey('default', 's2'), askedBy())).toEqual({ began: [], ended: [] });
  });
});
