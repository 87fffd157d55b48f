import { beforeEach, describe, expect, it } from 'vitest';
import { type DecisionLog, ObservatoryError, sessionKey } from '#contracts';
import { buildDecisionLog, FakeTime, turn } from '#testing';
import type { SteplessUse } from '../../decision-log/session-registry.js';
import { StepDelivery, WAITING_COUNT_MAX } from './step-delivery.js';

const logs = (count: number): DecisionLog[] => Array.from({ length: count }, () => buildDecisionLog());

describe('StepDelivery', () => {
  let time: FakeTime;
  let scoredCount: number;
  let storedCounts: number[];
  let lost: number[];
  let refusal: Error | null;
  let isFull: boolean;
  let delivery: StepDelivery;
  let told: string[];
  const use = (callId: string): SteplessUse => ({
    key: sessionKey('default', 's'),
    agentId: 'a',
    callId,
    costUsd: 0,
    sessionCostUsd: 0,
    tokens: 1,
  });

  beforeEach(() => {
    time = new FakeTime();
    scoredCount = 0;
    storedCounts = [];
    lost = [];
    refusal = null;
    isFull = false;
    delivery = new StepDelivery({
      timer: time,
      refuses: () => isFull,
      onRefused: (count) => lost.push(count),
    });
    const intercept = async (_tenantId: string, messages: readonly unknown[]) => {
      scoredCount += 1;
      if (refusal !== null) throw refusal;
      storedCounts.push(messages.length);
      return [];
    };
    told = [];
    delivery.connect({ intercept }, { noteStepless: ({ callId }) => void told.push(callId) });
  });

  it('loses what it has no room for while the store has none, of a tenant that has half of it, and says so', async () => {
    refusal = new ObservatoryError('store_full');
    delivery.deliver('loud', logs(WAITING_COUNT_MAX / 2));
    delivery.deliver('loud', logs(1));
    delivery.deliver('quiet', logs(1));
    expect(lost).toEqual([1]);
    await turn();
    refusal = null;
    await time.pass(1_000);
    expect(storedCounts).toEqual([WAITING_COUNT_MAX / 2, 1]);
    delivery.deliver('loud', logs(WAITING_COUNT_MAX / 2));
    expect(lost).toEqual([1]);
  });

  it('scores nothing while the store says that it takes none: an alert would follow each time', async () => {
    isFull = true;
    delivery.deliver('default', logs(1));
    await time.pass(3_000);
    expect(scoredCount).toBe(0);
    isFull = false;
    await time.pass(1_000);
    expect([scoredCount, storedCounts]).toEqual([1, [1]]);
  });

  it('stores together what came while the store was slow', async () => {
    for (const count of [1, 2, 300, 300, 4]) delivery.deliver('default', logs(count));
    await delivery.stop();
    expect(storedCounts).toEqual([1, 602, 4]);
    expect(lost).toEqual([]);
  });

  it('tells what calls took without a step behind the steps that came before, or at once where none is under way', async () => {
    isFull = true;
    delivery.deliver('default', logs(1));
    delivery.noteStepless([use('behind'), { ...use('elsewhere'), key: sessionKey('other', 's') }]);
    expect(told).toEqual(['elsewhere']);
    await turn();
    isFull = false;
    await time.pass(1_000);
    expect([storedCounts, told]).toEqual([[1], ['elsewhere', 'behind']]);
    delivery.noteStepless([use('later')]);
    expect(told).toEqual(['elsewhere', 'behind', 'later']);
  });

  it('keeps so many of these at most, as one of the steps each, and has their room again', async () => {
    for (let nth = 0; nth < 2; nth += 1) {
      told = [];
      isFull = true;
      delivery.deliver('default', logs(1));
      const roomLeft = WAITING_COUNT_MAX / 2 - 1;
      delivery.noteStepless(Array.from({ length: roomLeft + 1 }, (_, at) => use(`${at}`)));
      // It waits for no step: its row may say less for a moment.
      expect(told).toEqual([`${roomLeft}`]);
      delivery.deliver('default', logs(1));
      expect(lost.splice(0)).toEqual([1]);
      await turn();
      isFull = false;
      await time.pass(1_000);
      expect(told).toHaveLength(roomLeft + 1);
    }
  });

  it('tries nothing again that the store refuses for another reason', async () => {
    refusal = new Error('disk I/O error');
    delivery.deliver('default', logs(2));
    await turn();
    expect(lost).toEqual([2]);
    refusal = null;
    delivery.deliver('default', logs(1));
    await delivery.stop();
    expect(storedCounts).toEqual([1]);
  });

  it('gives up at the end what the store goes on refusing, and says so', async () => {
    refusal = new ObservatoryError('store_busy');
    delivery.deliver('default', logs(2));
    delivery.deliver('default', logs(3));
    const stopped = delivery.stop();
    await turn();
    await time.pass(2_000);
    await stopped;
    expect(lost).toEqual([2, 3]);
  });
});
