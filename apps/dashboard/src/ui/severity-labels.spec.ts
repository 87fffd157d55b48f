import { expect, it } from 'vitest';
import { SEVERITIES } from '#contracts';
import { SEVERITY_LABELS } from './severity-labels';

it('calls a severity what the API calls it', () => {
  expect(SEVERITIES.map((severity) => SEVERITY_LABELS[severity].toLowerCase())).toEqual([...SEVERITIES]);
});
