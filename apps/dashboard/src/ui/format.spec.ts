import { describe, expect, it } from 'vitest';
import {
  formatAgo,
  formatBytes,
  formatClock,
  formatCost,
  formatDuration,
  formatEntropy,
  formatExact,
  formatPartialCost,
  formatScore,
  formatShare,
  formatTokens,
  formatUntil,
  formatUsd,
  formatWait,
  formatZone,
  plural,
  truncateMiddle,
  withUnseen,
} from './format';

describe('format', () => {
  it('gives an exact time its date and its zone', () => {
    const text = formatExact(Date.UTC(2026, 10, 22, 12, 48, 32));
    expect(text).toMatch(/^2[123] Nov 2026, \d\d:\d\d:32 (UTC|GMT|[A-Z]{2,5})/);
  });

  it('names the zone of a clock as exact times do, in summer and in winter', () => {
    for (const atMs of [Date.UTC(2026, 0, 1, 12), Date.UTC(2026, 6, 1, 12)])
      expect(formatExact(atMs)).toMatch(new RegExp(` ${formatZone(atMs).replace('+', '\\+')}$`));
  });

  it('speaks of time as people do, and of the future as now', () => {
    const now = 1_000_000_000;
    expect(formatAgo(now + 5_000, now)).toBe('now');
    expect(formatAgo(now - 12_000, now)).toBe('12 s ago');
    expect(formatAgo(now - 61_000, now)).toBe('1 min ago');
    expect(formatAgo(now - 3 * 3_600_000, now)).toBe('3 h ago');
    expect(formatAgo(now - 72 * 3_600_000, now)).toBe('3 d ago');
  });

  it('shows a time of another day as what it is', () => {
    const now = new Date(2026, 10, 22, 12, 0).getTime();
    expect(formatClock(new Date(2026, 10, 22, 3, 8, 32, 125).getTime(), now)).toBe('03:08:32.125');
    expect(formatClock(new Date(2026, 10, 21, 23, 59, 59).getTime(), now)).toBe('21 Nov 23:59');
    expect(formatClock(new Date(2025, 10, 2, 0, 0).getTime(), now)).toBe('02 Nov 00:00');
  });

  it('names the day and the zone of a time to come, which may be weeks ahead, and calls midnight 00:00', () => {
    const atMs = new Date(2026, 10, 28, 0, 0).getTime();
    expect(formatUntil(atMs)).toBe(`Sat 28 Nov, 00:00 ${formatZone(atMs)}`);
  });

  it('keeps both ends of an id', () => {
    const short = truncateMiddle('sess-0193a7c2-aaaa-bbbb-9f3c', 14);
    expect(short).toHaveLength(14);
    expect(short.startsWith('sess-019') && short.endsWith('9f3c')).toBe(true);
    expect(truncateMiddle('short', 14)).toBe('short');
    expect(truncateMiddle('🚀🔥 launch of 🤖🤖🤖', 8)).toBe('🚀🔥 la…🤖🤖');
  });

  it.each([
    ['support\u200b-bot', 'support‹U+200B›-bot'],
    ['support-bot\u2060', 'support-bot‹U+2060›'],
    ['\u202etob', '‹U+202E›tob'],
    ['bot\u200d', 'bot‹U+200D›'],
    ['bot\ufe0f', 'bot‹U+FE0F›'],
    ['\u2800', '‹U+2800›'],
    ['\u115f\u3164', '‹U+115F›‹U+3164›'],
    ['\u{e0041}', '‹U+E0041›'],
    ['\ta\nb', '‹U+0009›a‹U+000A›b'],
    [' ', '‹U+0020›'],
    [' bot', '‹U+0020›bot'],
    ['bot\u3000', 'bot‹U+3000›'],
  ])('writes out what nobody sees in an id, so that none looks like another: %j', (id, shown) => {
    expect(withUnseen(id)).toBe(shown);
  });

  it.each(['support bot', 'żółw', 'e\u0301', '👩\u200d💻', '❤\ufe0f', '👍🏽', 'می\u200cخواهم', 'क्\u200dष'])(
    'leaves an id as it is where all of it is seen or shapes what is: %s',
    (id) => {
      expect(withUnseen(id)).toBe(id);
    },
  );

  it('formats an entropy score in two decimals, and never as a threshold that it is below', () => {
    expect([0, 0.2, 0.29, 0.3333, 0.5, 1].map(formatEntropy)).toEqual([
      '0.00',
      '0.20',
      '0.29',
      '0.33',
      '0.50',
      '1.00',
    ]);
    expect([14 / 94, 0.4967, 0.9999].map(formatEntropy)).toEqual(['0.14', '0.49', '0.99']);
  });

  it('formats money, scores, durations and counts', () => {
    expect(formatUsd(0.0042)).toBe('$0.0042');
    expect(formatUsd(1_204.4)).toBe('$1,204');
    expect(formatUsd(999.999)).toBe('$1,000');
    expect([13, 12.5].map(formatScore)).toEqual(['13', '12.5']);
    expect(formatDuration(999.6)).toBe('1.0 s');
    expect(formatDuration(59_980)).toBe('1 min 0 s');
    expect(formatDuration(125_000)).toBe('2 min 5 s');
    expect(formatDuration(3_599_600)).toBe('1 h 0 min');
    expect(formatDuration(123_456_789)).toBe('34 h 17 min');
    expect(formatDuration(273_600_000)).toBe('3 d 4 h');
    expect([-5, 400, 59_001, 240_000, 8_040_000].map(formatWait)).toEqual([
      '0 s',
      '1 s',
      '1 min 0 s',
      '4 min 0 s',
      '2 h 14 min',
    ]);
    expect(plural(1, 'session')).toBe('1 session');
    expect(plural(1_200, 'session')).toBe('1,200 sessions');
  });

  it('never shows an unknown or a tiny cost as nothing', () => {
    expect(formatCost(null)).toBe('unknown');
    expect(formatCost(0.00002)).toBe('<$0.0001');
    expect(formatCost(0)).toBe('$0');
    expect(formatPartialCost(0, true)).toBe('unknown');
    expect(formatPartialCost(0.12, true)).toBe('$0.12 + unknown');
    expect(formatPartialCost(0, false)).toBe('$0');
  });

  it('keeps bytes short', () => {
    expect([840, 12_345, 999_960, 4_100_000, 2e9].map(formatBytes)).toEqual([
      '840 B',
      '12.3 kB',
      '1.0 MB',
      '4.1 MB',
      '2.0 GB',
    ]);
  });

  it('keeps shares and tokens short', () => {
    const shares = ['0 %', '<1 %', '4.2 %', '80 %', '>99 %', '100 %'];
    expect([0, 0.004, 0.042, 0.8, 0.997, 1].map(formatShare)).toEqual(shares);
    expect([840, 12_345, 999_960, 4_100_000, 2e9].map(formatTokens)).toEqual([
      '840',
      '12.3k',
      '1.0M',
      '4.1M',
      '2.0B',
    ]);
  });
});
