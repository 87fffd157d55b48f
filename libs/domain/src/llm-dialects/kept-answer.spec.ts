import { expect, test } from 'vitest';
import { deletedAnswerId, fetchedAnswerId } from './kept-answer.js';

test.each([
  ['GET', '/v1/responses/resp_1', 'resp_1'],
  ['get', '//v1beta/interactions/v1_abc/', 'v1_abc'],
  ['POST', '/responses/resp_1/cancel', 'resp_1'],
  ['POST', '/v1beta/interactions/v1_abc/cancel', 'v1_abc'],
  ['POST', '/v1beta/interactions/v1_abc', null],
  ['GET', '/v1beta/interactions', null],
  ['GET', '/responses/resp_1/input_items', null],
  ['DELETE', '/responses/resp_1', null],
])('%s %s fetches %s', (method, path, id) => {
  expect(fetchedAnswerId(method, path)).toBe(id);
});

test.each([
  ['DELETE', '/v1/responses/resp_1', 'resp_1'],
  ['DELETE', '/v1beta/interactions/v1_abc', 'v1_abc'],
  ['delete', '/chat/completions/chatcmpl-1/', 'chatcmpl-1'],
  ['GET', '/responses/resp_1', null],
  ['DELETE', '/responses', null],
  ['DELETE', '/files/file_1', null],
])('%s %s deletes %s', (method, path, id) => {
  expect(deletedAnswerId(method, path)).toBe(id);
});
