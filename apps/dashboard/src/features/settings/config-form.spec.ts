import { describe, expect, it } from 'vitest';
import { RUNTIME_CONFIG_DEFAULTS as DEFAULTS, type RuntimeConfigKey } from '#contracts';
import { withoutSent } from '../../api/without-sent';
import { fieldErrorsOf, SETTING_GROUPS, toPatch, toText } from './config-form';

const SETTINGS = SETTING_GROUPS.flatMap(({ settings }) => settings);

describe('the settings form', () => {
  it('has a field for every setting there is', () => {
    expect(SETTINGS.map(({ key }) => key).toSorted()).toEqual(
      (Object.keys(DEFAULTS) as RuntimeConfigKey[]).toSorted(),
    );
  });

  it('shows units that people think in', () => {
    const textOf = Object.fromEntries(
      SETTINGS.map((setting) => [setting.key, toText(setting, DEFAULTS[setting.key])]),
    );
    expect(textOf).toMatchObject({ hitl_pause_ttl_ms: '30', retention_bytes: '10' });
  });

  it('sends only what was changed, in the wire’s units', () => {
    const edits = { hitl_pause_ttl_ms: '1.5', entropy_tool_key: 'name+input', retention_days: '30' };
    expect(toPatch(edits, DEFAULTS)).toEqual({
      patch: { hitl_pause_ttl_ms: 90_000, entropy_tool_key: 'name+input' },
      errors: {},
    });
  });

  it('leaves alone what somebody else has changed meanwhile', () => {
    const inForce = { ...DEFAULTS, retention_days: 90 };
    expect(toPatch({ entropy_window_size: '12' }, inForce).patch).toEqual({ entropy_window_size: 12 });
  });

  it('keeps what was typed on while it was being saved', () => {
    const sent = { entropy_window_size: '12', retention_days: '90' };
    expect(withoutSent({ ...sent, retention_days: '900' }, sent)).toEqual({ retention_days: '900' });
  });

  it('names a text that is no number before anything is sent', () => {
    const { errors, patch } = toPatch({ retention_days: 'a month' }, DEFAULTS);
    expect(errors).toEqual({ retention_days: 'Enter a number.' });
    expect(patch).toEqual({});
  });

  it("puts each sentence of the gateway's refusal at its field, in the field's unit", () => {
    const detail =
      'hitl_pause_ttl_ms: must be at most 600000; null puts it back to its default. retention_days: expected a number; null puts it back to its default.';
    expect(fieldErrorsOf(['hitl_pause_ttl_ms', 'retention_days'], detail)).toEqual({
      hitl_pause_ttl_ms: 'At most 10.',
      retention_days: 'Expected a number.',
    });
  });

  it('shows the whole refusal where it is about two fields at once', () => {
    const detail =
      'entropy_loop_threshold (0.6) must not exceed entropy_warning_threshold (0.5): a loop is graver.';
    expect(fieldErrorsOf(['entropy_loop_threshold'], detail)).toEqual({ entropy_loop_threshold: detail });
  });
});
