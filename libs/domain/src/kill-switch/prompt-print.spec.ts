import { describe, expect, it } from 'vitest';
import type { LlmRequest, LlmToolResult, NewestTurn } from '#contracts';
import { hammingDistance } from './fingerprint.js';
import { isSimilarPrompt, promptDistance, promptPrint } from './prompt-print.js';

const print = (newest: Partial<NewestTurn>) =>
  promptPrint(
    { newest: { user_text: '', tool_results: [], attachment_digests: [], ...newest } } as LlmRequest,
    [],
  );
const came = (name: string, text: string): LlmToolResult => ({
  call: { id: null, name, arguments: '' },
  text,
  failed: false,
});

it('makes the key of a call once, however many results answer it', () => {
  const call = { id: 'c', name: 'save', arguments: `"${'x y '.repeat(8 * 1024 * 1024)}"` };
  const { results } = print({ tool_results: Array(64).fill({ call, text: 'ok', failed: false }) });
  expect(new Set(results.map(({ callKey }) => callKey)).size).toBe(1);
});

describe('isSimilarPrompt', () => {
  it('asks for the same parts: a text beside an image is not the image alone', () => {
    const image = print({ attachment_digests: ['sha'] });
    const both = print({ attachment_digests: ['sha'], user_text: 'What is this?' });
    expect([isSimilarPrompt(image, image), isSimilarPrompt(both, both)]).toEqual([true, true]);
    expect([isSimilarPrompt(image, both), isSimilarPrompt(both, image)]).toEqual([false, false]);
  });

  it('takes an empty result for the same as an empty one only, beside a text', () => {
    const silent = print({ user_text: 'go on', tool_results: [came('press', '')] });
    const loud = print({ user_text: 'go on', tool_results: [came('press', 'pressed')] });
    expect([isSimilarPrompt(silent, silent), isSimilarPrompt(loud, loud)]).toEqual([true, true]);
    expect([isSimilarPrompt(silent, loud), isSimilarPrompt(loud, silent)]).toEqual([false, false]);
  });

  it('takes three results in any order', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => came(name, `of ${name}`)) as [
      LlmToolResult,
      LlmToolResult,
      LlmToolResult,
    ];
    const first = print({ tool_results: [a, b, c] });
    for (const tool_results of [
      [a, c, b],
      [b, a, c],
      [b, c, a],
      [c, a, b],
      [c, b, a],
    ])
      expect(isSimilarPrompt(first, print({ tool_results }))).toBe(true);
  });
});

describe('what a shell writes around an output', () => {
  const codex = (serial: string, status: string, output: string) =>
    `Chunk ID: ${serial}\nWall time: 0.0${serial} seconds\n${status}\nOutput:\n${output}`;
  const gemini = (serial: string, output: string) =>
    `<untrusted_context>\nOutput: ${output}\nProcess Group PGID: ${serial}\n</untrusted_context>`;
  const areSimilar = (one: string, other: string) =>
    isSimilarPrompt(
      print({ tool_results: [came('shell', one)] }),
      print({ tool_results: [came('shell', other)] }),
    );

  it('makes no difference once the command has ended; the output does', () => {
    const ended = 'Process exited with code 0';
    expect(areSimilar(codex('41', ended, '3 failed'), codex('42', ended, '3 failed'))).toBe(true);
    expect(areSimilar(codex('41', ended, '3 failed'), codex('42', ended, '2 failed'))).toBe(false);
    const tool = (serial: string, output: string) => `Wall time: 0.${serial} seconds\nOutput:\n${output}`;
    expect(areSimilar(tool('41', '3 failed'), tool('42', '3 failed'))).toBe(true);
    expect(areSimilar(tool('41', '3 failed'), tool('42', '2 failed'))).toBe(false);
    const patch = (serial: string, code = 1, more = '') =>
      `Exit code: ${code}\nWall time: 0.${serial} seconds\n${more}Output:\n3 failed`;
    expect(areSimilar(patch('41'), patch('42'))).toBe(true);
    expect(areSimilar(patch('41', 1), patch('42', 2))).toBe(false);
    const cut = 'Total output lines: 900\n';
    expect(areSimilar(patch('41', 1, cut), patch('42', 1, cut))).toBe(true);
    expect(areSimilar(gemini('41', '3 failed'), gemini('42', '3 failed'))).toBe(true);
    expect(areSimilar(gemini('41', '3 failed'), gemini('41', '2 failed'))).toBe(false);
    const copilot = (serial: string, output: string, code = 1) =>
      `${output}\n<shellId: ${serial} completed with exit code ${code}>`;
    expect(areSimilar(copilot('4', '3 failed'), copilot('5', '3 failed'))).toBe(true);
    expect(areSimilar(copilot('4', ''), copilot('5', ''))).toBe(true);
    expect(areSimilar(copilot('4', '3 failed'), copilot('5', '2 failed'))).toBe(false);
    expect(areSimilar(copilot('4', '3 failed'), copilot('5', '3 failed', 2))).toBe(false);
  });

  it('is the news of a command that still runs, and an output of its own in the middle of one', () => {
    const running = 'Process running with session ID 7';
    expect(areSimilar(codex('41', running, ''), codex('42', running, ''))).toBe(false);
    expect(areSimilar('a\nProcess Group PGID: 41\nb', 'a\nProcess Group PGID: 42\nb')).toBe(false);
  });
});

describe('promptDistance', () => {
  const near = print({ user_text: 'compile the module and run it' });
  const far = print({ user_text: 'write a poem about the sea' });
  const bits = hammingDistance(near.text as never, far.text as never);

  it('is that of the texts, and of several parts the worst', () => {
    expect(bits).toBeGreaterThan(3);
    expect([promptDistance(near, near), promptDistance(near, far)]).toEqual([0, bits]);
    const one = print({ user_text: 'go on', tool_results: [came('cat', 'red'), came('ls', 'blue')] });
    const other = print({ user_text: 'go on', tool_results: [came('cat', 'green'), came('ls', 'blue')] });
    const apart = one.results.map(({ result }, at) =>
      hammingDistance(result as never, other.results[at]?.result as never),
    );
    expect(Math.max(...apart)).toBeGreaterThan(0);
    expect([promptDistance(one, one), promptDistance(one, other)]).toEqual([0, Math.max(...apart)]);
  });

  it('is not known where either is empty or they have not the same parts', () => {
    const step = print({ tool_results: [came('cat', 'red')] });
    const silent = print({ tool_results: [came('cat', '')] });
    const nothing = print({});
    for (const [one, other] of [
      [near, nothing],
      [nothing, near],
      [nothing, nothing],
      [near, step],
      [silent, step],
      [near, print({ attachment_digests: ['sha'] })],
    ] as const)
      expect(promptDistance(one, other)).toBeNull();
  });
});
