import { describe, expect, it } from 'vitest';
import {
  alertChannelBodySchema,
  alertChannelPatchSchema,
  alertRuleBodySchema,
  alertRulePatchSchema,
  createAgentKeyBodySchema,
  createOperatorBodySchema,
  LIMITS,
} from '#contracts';
import { randomIds } from '#kernel';
import {
  bearerToken,
  cookieValue,
  coversTenants,
  createSecret,
  displayPrefix,
  hashSecret,
  homeTenant,
  isInternetName,
  isOwnPage,
  mayActFor,
  originAllowed,
  parseOperatorId,
  parseOperatorIdHeader,
  textOfHeader,
} from './index.js';

describe('secrets', () => {
  it('carry 192 bits behind a prefix that tells what they are', () => {
    expect(createSecret('agent', randomIds)).toMatch(/^obs_agent_[\w-]{32}$/);
    expect(createSecret('operator', randomIds)).toMatch(/^obs_op_[\w-]{32}$/);
    expect(hashSecret('a')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('show four characters of what was generated, and at most a quarter of what somebody chose', () => {
    expect(displayPrefix('obs_op_0123456789abcdef0123456789abcdef')).toBe('obs_op_0123');
    expect(displayPrefix('hunter-2-go')).toBe('hu');
    expect(displayPrefix('obs_op_1')).toBe('ob');
    expect(displayPrefix(`obs_op_${'x'.repeat(16)}`)).toBe('obs_op_xxxx');
    expect(displayPrefix(`obs_op_${'x'.repeat(15)}`)).toBe('obs_');
  });
});

describe('credential headers', () => {
  it('are read whatever the case of the scheme and the place of the cookie', () => {
    expect(bearerToken('BEARER  abc ')).toBe('abc');
    expect(bearerToken('Basic abc')).toBeUndefined();
    expect(cookieValue('x=1; observatory_session=v=1 ; y=2', 'observatory_session')).toBe('v=1');
    expect(cookieValue('not_observatory_session=v', 'observatory_session')).toBeUndefined();
    expect(cookieValue('observatory_sessions', 'observatory_session')).toBeUndefined();
  });

  it('hold nothing where there is none, an empty or an oversized one', () => {
    const long = 'x'.repeat(LIMITS.idCharsMax);
    const read = [bearerToken, (value: string) => cookieValue(value, 'c')];
    for (const [index, before] of ['Bearer ', 'c='].entries()) {
      expect(['', 'x', long, `${long}x`].map((value) => read[index]?.(before + value))).toEqual([
        undefined,
        'x',
        long,
        undefined,
      ]);
    }
    expect(bearerToken('Basic bearer x')).toBeUndefined();
    expect([bearerToken(undefined), cookieValue(undefined, 'c'), parseOperatorIdHeader(undefined)]).toEqual([
      undefined,
      undefined,
      null,
    ]);
  });

  it('give an operator id as UTF-8 where the bytes are that, else as Latin-1', () => {
    expect(parseOperatorIdHeader(Buffer.from('Jürgen').toString('latin1'))).toBe('Jürgen');
    expect(parseOperatorIdHeader('J\u00fcrgen')).toBe('Jürgen');
  });

  it('let no operator pass for the gateway, not even by signs that nobody sees', () => {
    for (const name of [
      'system',
      'System',
      'system\u200b',
      'sys\u2060tem',
      'ｓｙｓｔｅｍ',
      'Kill_Switch\u00ad',
      'system\ufe0f',
      'system\u{e0100}',
      'sys\u034ftem',
      'system\u3164',
      '\u115fsystem',
      'system\u2800',
      'system \u200b',
      'kill\u17b4_switch',
    ])
      expect(parseOperatorId(name), JSON.stringify(name)).toBeNull();
    expect(parseOperatorId('system admin')).toBe('system admin');
    expect(parseOperatorId('ada \u{1f600}')).toBe('ada \u{1f600}');
    expect(parseOperatorId('ada \u2764\ufe0f')).toBe('ada \u2764\ufe0f');
    expect(parseOperatorId('می\u200cخواهم')).toBe('می\u200cخواهم');
  });

  it('let none turn the text around it about, or come back from the store as another', () => {
    for (const name of ['\u202enimda', 'ada\u2066', 'a\u0000da', 'a\nda', 'ada\ud83d'])
      expect(parseOperatorId(name), JSON.stringify(name)).toBeNull();
  });

  it('is what a key, a token, an alert rule and a channel are held to as well', () => {
    const channel = { kind: 'webhook', url: 'https://example.com' };
    const bodies = (name: string) => [
      createAgentKeyBodySchema.safeParse({ name }).success,
      createOperatorBodySchema.safeParse({ name, role: 'viewer' }).success,
      alertRuleBodySchema.safeParse({ name, type: 'budget' }).success,
      alertRulePatchSchema.safeParse({ name }).success,
      alertChannelBodySchema.safeParse({ ...channel, name }).success,
      alertChannelPatchSchema.safeParse({ name }).success,
    ];
    expect(bodies('Büro \u{1f600}')).toEqual(Array(6).fill(true));
    for (const name of ['pager\ud83d', 'pa\nger', 'pager\u202e'])
      expect(bodies(name), JSON.stringify(name)).toEqual(Array(6).fill(false));
  });

  it('give any other text the same way', () => {
    expect(textOfHeader(Buffer.from('票 4711').toString('latin1'))).toBe('票 4711');
    expect(textOfHeader('caf\u00e9')).toBe('café');
    expect(textOfHeader('ticket-4711')).toBe('ticket-4711');
  });
});

describe('origins', () => {
  it('are allowed when they are the host itself or listed, exactly', () => {
    expect(originAllowed('http://localhost:4000', 'localhost:4000', [])).toBe(true);
    expect(originAllowed('https://ops.example.org', 'OPS.example.org', [])).toBe(true);
    expect(originAllowed('http://localhost:5173', 'localhost:4000', ['http://localhost:5173'])).toBe(true);
    for (const origin of [
      undefined,
      '',
      'null',
      'localhost:4000',
      'http://localhost:4001',
      'http://localhost:4000.evil.example',
      'ftp://localhost:4000',
    ]) {
      expect(originAllowed(origin, 'localhost:4000', []), origin).toBe(false);
    }
    expect(originAllowed('https://ops.example.org.evil.example', 'x', ['https://ops.example.org'])).toBe(
      false,
    );
  });

  it('are not needed where the browser itself says that the page is the same', () => {
    expect(isOwnPage({ origin: undefined, secFetchSite: 'same-origin', host: 'x' }, [])).toBe(true);
    expect(isOwnPage({ origin: undefined, secFetchSite: 'none', host: 'x' }, [])).toBe(false);
    expect(isOwnPage({ origin: 'http://x', secFetchSite: undefined, host: 'x' }, [])).toBe(true);
  });
});

describe('tenants', () => {
  it('are those granted, and only real tenant ids', () => {
    expect(mayActFor(['a', 'b'], 'b')).toBe(true);
    expect(mayActFor(['a'], 'b')).toBe(false);
    expect(mayActFor(['*'], 'b')).toBe(true);
    for (const id of ['*', '', 'A', 'a b', 'a\0b']) expect(mayActFor(['*', id], id)).toBe(false);
  });

  it('are granted, and taken back, by those only who have every one of them', () => {
    expect(coversTenants(['*'], ['a', '*'])).toBe(true);
    expect(coversTenants(['a', 'b'], ['b', 'a'])).toBe(true);
    expect(coversTenants(['a', 'b'], ['b', 'c'])).toBe(false);
    expect(coversTenants(['a'], ['*'])).toBe(false);
  });

  it('start at default where that is granted, else at the first', () => {
    expect([homeTenant(['*']), homeTenant(['red', 'default']), homeTenant(['red', 'blue'])]).toEqual([
      'default',
      'default',
      'red',
    ]);
  });
});

describe('addresses', () => {
  it('in a header Host are told from names that others can give out', () => {
    const names = ['evil.example', 'evil.example:4000', 'localhost.evil.example', '127.0.0.1.nip.io', 'a b'];
    const inside = [undefined, 'localhost:4000', 'obs.localhost', 'gateway', '127.0.0.1:4000', '[::1]:4000'];
    expect(names.filter((name) => !isInternetName(name))).toEqual([]);
    expect(inside.filter(isInternetName)).toEqual([]);
  });
});
