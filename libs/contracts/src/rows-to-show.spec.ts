import { expect, test } from 'vitest';
import { rowsToShow } from './rows-to-show.js';
import type { SessionView } from './session.js';

const view = (session_id: string, changes: object = {}): SessionView =>
  ({ session_id, severity: 'normal', ended: false, control: { state: 'active' }, ...changes }) as SessionView;
const loop = (id: string) => view(id, { severity: 'loop' });
const paused = (id: string) => view(id, { control: { state: 'paused' } });
const idsOf = (views: readonly SessionView[], countMax: number) =>
  rowsToShow(views, countMax).map(({ session_id }) => session_id);

test('all of them, where there is room', () => {
  expect(idsOf([view('a'), loop('b')], 2)).toEqual(['a', 'b']);
});

test('the most recent, and whatever loops or is in hand, in their order', () => {
  const views = [view('a'), view('b'), loop('c'), view('d'), paused('e')];
  expect(idsOf(views, 3)).toEqual(['a', 'c', 'e']);
  expect(idsOf(views, 4)).toEqual(['a', 'b', 'c', 'e']);
});

test('no more than there is room for, though all of them loop', () => {
  expect(idsOf([view('a'), loop('b'), loop('c'), loop('d')], 2)).toEqual(['b', 'c']);
});

test('what is over wants nobody any more', () => {
  const over = [
    view('b', { severity: 'loop', ended: true }),
    view('c', { control: { state: 'terminated' } }),
  ];
  expect(idsOf([view('a'), ...over], 1)).toEqual(['a']);
});

test('one that is held wants somebody, though its agent is done: its last step may be what a person is to allow', () => {
  const held = view('b', { control: { state: 'paused' }, ended: true });
  expect(idsOf([view('a'), held], 1)).toEqual(['b']);
});
