import { beforeEach, describe, expect, it } from 'vitest';
import { type DecisionLog, ObservatoryError } from '#contracts';
import { buildDecisionLog, FakeTime, turn } from '#testing';
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
    delivery.connect({ intercept }, { noteStepless: () => {} });
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
