import { expect, it } from 'vitest';
import { readMatchQuery } from '#domain/llm-cache';
import { countingIds, FakeClock } from '#testing';
import { SemanticMatches, type SemanticMatchesParts } from './semantic-matches.js';

it('pages to the end though new matches push out the one that a page ended with', () => {
  const matches = new SemanticMatches({
    clock: new FakeClock(),
    ids: countingIds(),
    redact: (text: string) => text,
  } as unknown as SemanticMatchesParts);
  const add = (count: number) => {
    for (let index = 0; index < count; index += 1)
      matches.served({ tenantId: 'default', agentId: 'a', id: 'c', summary: null } as never, {
        key: 'k',
        prompt: 'p',
        matched: 'm',
        cosine: 0.9 as never,
      });
  };
  add(150);
  const first = matches.list('default', readMatchQuery({ limit: 100 }));
  const second = matches.list('default', readMatchQuery({ limit: 100, cursor: first.next_cursor ?? '' }));
  expect(second.items).toHaveLength(50);
  expect(second.next_cursor).toBeNull();
  add(160);
  const late = matches.list('default', readMatchQuery({ limit: 100, cursor: first.next_cursor ?? '' }));
  expect(late).toEqual({ items: [], next_cursor: null });
});
