import { describe, expect, it } from 'vitest';
import { decisionLogSchema } from '#contracts';
import { formatTable, replaceMeasured } from '../bench/lib/figures.mjs';
import { median, medianRatio, percentile } from '../bench/lib/statistics.mjs';
import { makeLines, makeRequests, stepBytes } from '../bench/lib/traffic.mjs';

describe("the benches' traffic", () => {
  const target = { host: '127.0.0.1:1', path: '/v1/decision-logs', key: 'k' };
  const bodyOf = (request: Buffer) => {
    const [head = '', body = ''] = request.toString('utf8').split('\r\n\r\n');
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
    return body;
  };

  it('fits the contract, is about 900 bytes a step, and never says a trace_id twice', () => {
    const lanes = [0, 1].map((lane) =>
      makeRequests({
        ...target,
        sessions: [lane, lane + 2],
        prefix: 'p',
        linesPerBody: 1,
        firstCounter: lane + 1,
        counterStride: 2,
      }),
    );
    const logs = Array.from({ length: 40 }, (_, at) =>
      JSON.parse(bodyOf(lanes[at % 2]?.() ?? Buffer.alloc(0))),
    );
    for (const log of logs) expect(decisionLogSchema.parse(log)).toEqual(log);
    expect(new Set(logs.map(({ meta }) => meta.trace_id)).size).toBe(40);
    expect(stepBytes).toBeGreaterThan(800);
    expect(stepBytes).toBeLessThan(1_000);
  });

  it('has nobody in circles, and each step the child of its session’s last', () => {
    const next = makeLines({ lineCount: 500, prefix: 'p', firstCounter: 1 });
    const logs = Array.from({ length: 16 }, next).flatMap((text) =>
      text.split('\n').map((line) => JSON.parse(line)),
    );
    const session = logs.filter(({ meta }) => meta.session_id === 'p-session-000007');
    expect(session).toHaveLength(8);
    expect(new Set(session.slice(0, 4).map(({ cognition }) => cognition.intent)).size).toBe(4);
    expect(session.slice(1).map(({ meta }) => meta.parent_step_id)).toEqual(
      session.slice(0, -1).map(({ meta }) => meta.trace_id),
    );
  });
});

describe('the figures of the benches', () => {
  it('takes the median of the ratios of neighbours', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(medianRatio([10, 5, 30], [20, 10, 30])).toBe(0.5);
    expect(percentile([5, 1, 3], 95)).toBe(5);
    expect(percentile([], 95)).toBeNaN();
  });

  it('says what falls short', () => {
    const figure = { title: 't', measured: '0.5', aim: 'at least 0.6', ok: false, absolutes: '' };
    expect(formatTable([figure])).toContain('| falls short |');
  });

  it('rewrites the section of one bench and leaves the rest of the page alone', () => {
    const first = replaceMeasured('# Results\n\nWords.\n', 'live', 'one');
    const both = replaceMeasured(first, 'ingest', 'two');
    const again = replaceMeasured(both, 'live', 'three $& $1');
    expect(again).toBe(both.replace('one', () => 'three $& $1'));
    expect(again).toContain('# Results\n\nWords.\n\n<!-- measured:live:begin');
    expect(again).toContain('two');
  });
});
