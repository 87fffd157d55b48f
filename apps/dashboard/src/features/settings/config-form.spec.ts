import { describe, expect, it } from 'vitest';
import { RUNTIME_CONFIG_DEFAULTS as DEFAULTS, type RuntimeConfigKey } from '#contracts';
import { draftOf, fieldErrorsOf, SETTING_GROUPS, toPatch } from './config-form';

describe('the settings form', () => {
  it('has a field for every setting there is', () => {
    const keys = SETTING_GROUPS.flatMap(({ settings }) => settings.map(({ key }) => key));
    expect(keys.toSorted()).toEqual((Object.keys(DEFAULTS) as RuntimeConfigKey[]).toSorted());
  });

  it('shows units that people think in', () => {
    expect(draftOf(DEFAULTS)).toMatchObject({ hitl_pause_ttl_ms: '30', retention_bytes: '10' });
  });

  it('sends only what was changed, in the wire’s units', () => {
    const draft = { ...draftOf(DEFAULTS), hitl_pause_ttl_ms: '1.5', entropy_tool_key: 'name+input' };
    expect(toPatch(draft, DEFAULTS)).toEqual({
      patch: { hitl_pause_ttl_ms: 90_000, entropy_tool_key: 'name+input' },
      errors: {},
    });
  });

  it('names a text that is no number before anything is sent', () => {
    const { errors, patch } = toPatch({ ...draftOf(DEFAULTS), retention_days: 'a month' }, DEFAULTS);
    expect(errors).toEqual({ retention_days: 'Enter a number.' });
    expect(patch).toEqual({});
  });

  it("puts each sentence of the gateway's refusal at its field, in the field's unit", () => {
    const detail =
      'hitl_pause_ttl_ms: Too big: expected number to be <=600000; null puts it back to its default. retention_days: Invalid input; null puts it back to its default.';
    expect(fieldErrorsOf(['hitl_pause_ttl_ms', 'retention_days'], detail)).toEqual({
      hitl_pause_ttl_ms: 'At most 10.',
      retention_days: 'Invalid input.',
    });
  });

  it('shows the whole refusal where it is about two fields at once', () => {
    const detail =
      'entropy_loop_threshold (0.6) must not exceed entropy_warning_threshold (0.5): a loop is graver.';
    expect(fieldErrorsOf(['entropy_loop_threshold'], detail)).toEqual({ entropy_loop_threshold: detail });
  });
});
