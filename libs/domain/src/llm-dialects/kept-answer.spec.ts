import { expect, test } from 'vitest';
import { begunAnswerId, deletedAnswerId, fetchedAnswerId, isInteraction } from './kept-answer.js';

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
  ['delete', '/chat/completions/chatcmpl-1/', 'chatcmpl-1'],
  ['GET', '/responses/resp_1', null],
  ['DELETE', '/responses', null],
  ['DELETE', '/files/file_1', null],
])('%s %s deletes %s', (method, path, id) => {
  expect(deletedAnswerId(method, path)).toBe(id);
});

test.each([
  ['{"id":"v1_abc","status":"in_progress"}', 'v1_abc'],
  ['{"status":"queued","id":"v1_abc"}', 'v1_abc'],
  ['{"id":"v1_abc","status":"completed"}', null],
  ['{"id":7,"status":"queued"}', null],
  ['"status":"queued","id":"v1_abc"}', null],
  [
    'event: interaction.created\ndata: {"event_type":"interaction.created","interaction":{"id":"v1_abc"}}\n\nda',
    'v1_abc',
  ],
  ['data: {"event_type":"interaction.completed","interaction":{"id":"v1_abc"}}\n\n', null],
  ['data: {"event_type":"interaction.created","interaction":{"id":"v1_a', null],
  ['', null],
])('what is begun in %s is %s', (text, id) => {
  expect(begunAnswerId(text)).toBe(id);
});

test('an interaction is known by its path, however it is written', () => {
  const paths = ['/v1beta/interactions', '/v1beta//Interactions/', '/v1beta/interactions/v1_abc'];
  expect(paths.map(isInteraction)).toEqual([true, true, false]);
});
