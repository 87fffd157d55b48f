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

it('takes a short one out where it stands by itself, and leaves the words that hold it', () => {
  const hide = hideSecrets(['e', 'pw.+1', 'ab"c', '🙂', '']);
  const line = JSON.stringify({
    level: 'info',
    text: 'e redis://:pw.+1@redis\npw.+1 here, ab"c, 🙂, xpw.+1, pw.+12',
  });
  expect(JSON.parse(hide(line))).toEqual({
    level: 'info',
    text: '[redacted] redis://:[redacted]@redis\n[redacted] here, [redacted], [redacted], xpw.+1, pw.+12',
  });
});
