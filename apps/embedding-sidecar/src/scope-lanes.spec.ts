import { beforeEach, expect, it } from 'vitest';
import { turn } from '#testing';
import { ScopeLanes, type Turn } from './scope-lanes.js';

let lanes: ScopeLanes;
/** Whose turn has come, in that order. */
let come: string[];

beforeEach(() => {
  lanes = new ScopeLanes(3);
  come = [];
});

function enter(name: string, lane = 'lane'): Turn {
  const entered = lanes.enter(lane);
  if (entered === null) throw new Error('the lane is full');
  void entered.comes.then(() => come.push(name));
  return entered;
}

it('lets through one after another in the order they came, though some leave before others enter', async () => {
  const first = enter('first');
  const second = enter('second');
  await turn();
  expect(come).toEqual(['first']);
  first.leave();
  const third = enter('third');
  await turn();
  expect(come).toEqual(['first', 'second']);
  second.leave();
  await turn();
  expect(come).toEqual(['first', 'second', 'third']);
  third.leave();
});

it('lets nobody wait for another lane', async () => {
  enter('one', 'one');
  enter('other', 'other');
  await turn();
  expect(come).toEqual(['one', 'other']);
});

it('is full at its bound, and has room for each that left', () => {
  const [first] = ['1', '2', '3'].map((name) => enter(name));
  expect(lanes.enter('lane')).toBeNull();
  expect(lanes.enter('other')).not.toBeNull();
  first?.leave();
  expect(lanes.enter('lane')).not.toBeNull();
  expect(lanes.enter('lane')).toBeNull();
});
