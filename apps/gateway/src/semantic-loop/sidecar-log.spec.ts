import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { mergeSidecarLog, parseSidecarLine, type SidecarLine } from './sidecar-log.js';

async function merged(chunks: (string | Buffer)[]) {
  const lines: Record<string, unknown>[] = [];
  const heard: SidecarLine[] = [];
  const logger = pino(
    { level: 'trace', base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const stream = new PassThrough();
  mergeSidecarLog(stream, logger, (line) => heard.push(line));
  const ended = new Promise((resolve) => stream.once('end', resolve));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await ended;
  return { lines, heard };
}

it('passes JSON lines on with their level, however they were cut on the way', async () => {
  const { lines, heard } = await merged([
    '{"level":"info","time":"x","event":"rea',
    'dy","msg":"ready"}\n{"level":"warn","reason":"busy","msg":"check failed"}\n',
  ]);
  expect(lines).toEqual([
    { level: 'info', event: 'ready', source: 'embedding-sidecar', msg: 'ready' },
    { level: 'warn', reason: 'busy', source: 'embedding-sidecar', msg: 'check failed' },
  ]);
  expect(heard.map(({ event, reason }) => [event, reason])).toEqual([
    ['ready', null],
    [null, 'busy'],
  ]);
});

it('reads a letter that came in two pieces', async () => {
  const bytes = Buffer.from('{"level":"info","msg":"für"}\n');
  const within = bytes.indexOf('ü') + 1;
  const { lines } = await merged([bytes.subarray(0, within), bytes.subarray(within)]);
  expect(lines[0]?.msg).toBe('für');
});

it('survives a stream that breaks', () => {
  const stream = new PassThrough();
  mergeSidecarLog(stream, pino({ level: 'silent' }), () => {});
  expect(stream.emit('error', new Error('read EIO'))).toBe(true);
});

it('repeats nothing that is no line of a log', async () => {
  const { lines } = await merged([
    'Segmentation fault (a prompt)\n[1,2]\nnull\n"text"\n{"level":"loud","msg":"x"}\n{"level":"info"}\n',
  ]);
  expect(lines).toEqual([]);
});

it('drops a line that is too long, in one piece or many, and reads on', async () => {
  const long = `{"level":"info","msg":"${'x'.repeat(70_000)}"}\n`;
  const { lines } = await merged([
    long,
    ...(long.match(/.{1,1000}\n?/g) ?? []),
    '{"level":"error","msg":"after"}\n',
  ]);
  expect(lines.map(({ msg }) => msg)).toEqual(['after']);
});

it('does not let the child speak in the name of somebody else', async () => {
  const { lines } = await merged(['{"level":"info","source":"gateway","msg":"x"}\n']);
  expect(lines[0]?.source).toBe('embedding-sidecar');
});

it('reads the reason a child gives for not starting', () => {
  const line = '{"level":"fatal","event":"not_started","reason":"no model","msg":"did not start"}';
  expect(parseSidecarLine(line)).toMatchObject({ event: 'not_started', reason: 'no model' });
});
