import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { type Dialect, dialectFor } from '#domain/llm-dialects';
import { BytePieces } from '#kernel';
import { ProxyCall } from './proxy-call.js';

/** Its body has been received, and not been read yet. */
function callWith(body: object): ProxyCall {
  const target = { upstream: 'openai', agentId: null, path: '/chat/completions', query: '' };
  const call = new ProxyCall('call-1', 5, target, {} as IncomingMessage, {} as ServerResponse);
  call.dialect = dialectFor('openai', 'POST', '/chat/completions') as Dialect;
  call.body = new BytePieces();
  call.body.push(Buffer.from(JSON.stringify(body)));
  return call;
}

const user = (content: string) => ({ role: 'user', content });

test('has no request before its body was read', () => {
  const call = callWith({ model: 'm', messages: [user('Where is it?')] });
  expect(call.summary).toBeNull();
  expect(call.request).toBeNull();
});

test('reads what it let go of anew, and knows the rest without', () => {
  const body = {
    model: 'm',
    stream: true,
    max_tokens: 7,
    messages: [{ role: 'system', content: 'Help.' }, user('Where is it?'), user('And when?')],
  };
  const call = callWith(body);
  call.readAs(body);
  const before = call.request;
  call.letGoOfParsed();
  expect(call.summary).toEqual({
    model: 'm',
    stream: true,
    output_tokens_max: 7,
    choice_count: 1,
    is_kept: false,
    asked: before?.newest.user_text,
    askedFirst: 'Where is it?',
    answersInTool: false,
    onlyWarms: false,
    mediaExcessBytes: 0,
  });
  expect(call.request).toEqual(before);
  expect(call.request).not.toBe(before);
  expect(call.parsedBody()).toEqual(body);
});

test('remembers the beginning of a long question, and not the whole', () => {
  const long = `${'a𝄞'.repeat(400)} ${'x'.repeat(100_000)}`;
  const body = { model: 'm', messages: [user(long)] };
  const call = callWith(body);
  call.readAs(body);
  expect(call.summary?.asked).toBe(long.slice(0, 800));
  expect(call.summary?.askedFirst).toBe(long.slice(0, 800));
});
