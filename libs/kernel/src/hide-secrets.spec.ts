import { expect, it } from 'vitest';
import { hideSecrets } from './hide-secrets.js';

it('takes secrets out of a line, as JSON writes them, the longest first', () => {
  const hide = hideSecrets(['hunter2hunter2', 'redis://:hunter2hunter2@redis', 'with"quote']);
  const line = JSON.stringify({
    url: 'redis://:hunter2hunter2@redis',
    text: 'a with"quote b',
    key: 'hunter2hunter2',
  });
  expect(hide(line)).toBe('{"url":"[redacted]","text":"a [redacted] b","key":"[redacted]"}');
});

it('leaves what is too short to be one where it is', () => {
  expect(hideSecrets(['e', 'ollama', ''])('{"level":"info","upstream":"ollama"}')).toBe(
    '{"level":"info","upstream":"ollama"}',
  );
});
