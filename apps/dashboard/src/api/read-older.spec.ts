import { type InfiniteData, InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import type { Page } from '#contracts';
import { type Deferred, deferred } from '#kernel';
import { turn } from '#testing';
import { readOlder } from './read-older';

/** A list of pages by number, each read when the test says so. */
async function listOf(newest: string[]) {
  const asked: { cursor: string | null; answer: Deferred<Page<string>> }[] = [];
  const client = new QueryClient();
  const list = new InfiniteQueryObserver<
    Page<string>,
    Error,
    InfiniteData<Page<string>>,
    string[],
    string | null
  >(client, {
    queryKey: ['list'],
    queryFn: ({ pageParam: cursor }) => {
      const answer = deferred<Page<string>>();
      asked.push({ cursor, answer });
      return answer.promise;
    },
    initialPageParam: null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  list.subscribe(() => {});
  const answer = async (items: string[], next_cursor: string | null) => {
    asked.at(-1)?.answer.resolve({ items, next_cursor });
    for (let nth = 0; nth < 5; nth += 1) await turn();
  };
  await answer(newest, '1');
  const cursors = () => asked.map(({ cursor }) => cursor);
  const shown = () => list.getCurrentResult().data?.pages.flatMap(({ items }) => items);
  return { list, answer, cursors, shown };
}

it('waits for a reading anew that is under way: the top of the list comes with it, then the older page', async () => {
  const { list, answer, cursors, shown } = await listOf(['b', 'a']);
  void list.refetch();
  void readOlder(list.getCurrentResult());
  await answer(['c', 'b'], '2');
  expect(shown()).toEqual(['c', 'b']);
  await answer(['a'], null);
  expect(shown()).toEqual(['c', 'b', 'a']);
  expect(cursors()).toEqual([null, null, '2']);
});

it('reads one older page, however often it is asked meanwhile', async () => {
  const { list, answer, cursors, shown } = await listOf(['b']);
  void readOlder(list.getCurrentResult());
  void readOlder(list.getCurrentResult());
  await answer(['a'], '2');
  expect(shown()).toEqual(['b', 'a']);
  expect(cursors()).toEqual([null, '1']);
});
