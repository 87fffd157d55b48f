import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { turn } from '#testing';
import { besideLive } from './beside-live';

let client: QueryClient;
let close: () => void;
let answers: ((text: string) => void)[];
let observer: QueryObserver<string>;

const thing = (id: string, startCount: number) =>
  besideLive(['thing', id], startCount, () => new Promise<string>((resolve) => answers.push(resolve)));
const answer = async (nth: number, text: string) => {
  answers[nth]?.(text);
  await turn();
  await turn();
};
const shown = () => observer.getCurrentResult().data;

beforeEach(async () => {
  client = new QueryClient();
  answers = [];
  observer = new QueryObserver(client, thing('a', 1));
  close = observer.subscribe(() => {});
  await answer(0, 'open');
});
afterEach(() => {
  close();
  client.clear();
});

it('asks again when the topic begins anew, and shows what it has until that is answered', async () => {
  observer.setOptions(thing('a', 2));
  expect([answers.length, shown()]).toEqual([2, 'open']);
  await answer(1, 'over');
  expect(shown()).toBe('over');
});

it('does not take what was asked for before the topic began anew for what is true since', async () => {
  observer.setOptions(thing('a', 2));
  observer.setOptions(thing('a', 3));
  await answer(2, 'over');
  await answer(1, 'open still');
  expect(shown()).toBe('over');
});

it('shows nothing of one thing as another', () => {
  observer.setOptions(thing('b', 1));
  expect(shown()).toBeUndefined();
});
