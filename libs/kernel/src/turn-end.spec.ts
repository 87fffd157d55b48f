import { afterEach, describe, expect, it, vi } from 'vitest';
import { afterTurnEnd, atTurnEnd, leaveNow } from './turn-end.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

afterEach(() => void vi.unstubAllGlobals());

describe('the end of a turn', () => {
  it('has what was to leave leave together and in its order, after the work of the turn', async () => {
    const seen: string[] = [];
    atTurnEnd(() => seen.push('first leaves'));
    await Promise.resolve();
    seen.push('work goes on');
    atTurnEnd(() => seen.push('second leaves'));
    await nextTurn();
    expect(seen).toEqual(['work goes on', 'first leaves', 'second leaves']);
  });

  it('lets what nobody waits for follow it', async () => {
    const seen: string[] = [];
    atTurnEnd(() => seen.push('first leaves'));
    const follows = afterTurnEnd().then(() => seen.push('read'));
    atTurnEnd(() => seen.push('second leaves'));
    await follows;
    expect(seen).toEqual(['first leaves', 'second leaves', 'read']);
  });

  it('holds nobody up when nothing is to leave', async () => {
    const seen: string[] = [];
    setImmediate(() => seen.push('next turn'));
    await afterTurnEnd();
    expect(seen).toEqual([]);
    await nextTurn();
  });

  it('takes what is asked for while things leave to the next end', async () => {
    const seen: string[] = [];
    atTurnEnd(() => {
      seen.push('outer');
      atTurnEnd(() => seen.push('inner'));
      void afterTurnEnd().then(() => seen.push('after inner'));
    });
    await afterTurnEnd();
    expect(seen).toEqual(['outer']);
    await nextTurn();
    await nextTurn();
    expect(seen).toEqual(['outer', 'inner', 'after inner']);
  });

  it('does not wait for the end of a turn that takes long', () => {
    const seen: string[] = [];
    atTurnEnd(() => seen.push('first'));
    const untilMs = performance.now() + 10;
    while (performance.now() < untilMs);
    atTurnEnd(() => seen.push('second'));
    expect(seen).toEqual(['first', 'second']);
  });

  it('does not come before long work that says so', async () => {
    const seen: string[] = [];
    atTurnEnd(() => seen.push('leaves'));
    const follows = afterTurnEnd();
    leaveNow();
    expect(seen).toEqual(['leaves']);
    await follows;
  });

  it("lets one that fails stop no other, and its error be nobody else's", async () => {
    const later: (() => void)[] = [];
    vi.stubGlobal('setImmediate', (run: () => void) => later.push(run));
    const seen: string[] = [];
    atTurnEnd(() => {
      throw new Error('broken');
    });
    atTurnEnd(() => seen.push('leaves'));
    const follows = afterTurnEnd();
    for (const run of later.splice(0)) run();
    await follows;
    expect(seen).toEqual(['leaves']);
    expect(() => later.shift()?.()).toThrow('broken');
  });
});
