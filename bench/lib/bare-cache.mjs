/**
 * The limit of the cache bench: node:http, JSON.parse, one SHA-256 over the body, an answer from a Map. No tenant, no
 * guard, no record, no dialect.
 */
import { createHash } from 'node:crypto';
import { answerText, serveAnswers } from './answer-server.mjs';

const answer = JSON.stringify({
  id: 'chatcmpl-bare',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: answerText } }],
  usage: { prompt_tokens: 512, completion_tokens: 80, total_tokens: 592 },
});

/** @type {Map<string, string>} */
const answers = new Map();

serveAnswers((body) => {
  const { model } = JSON.parse(body);
  const key = createHash('sha256').update(model).update(body).digest('hex');
  const found = answers.get(key);
  if (found === undefined) answers.set(key, answer);
  return found ?? answer;
});
