import { describe, expect, test } from 'vitest';
import {
  formatTraceParent,
  isSampled,
  newSpanId,
  newTraceId,
  parseTraceParent,
  type TraceContext,
} from './trace-context.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

describe('traceparent', () => {
  test('is read and written', () => {
    const context = { traceId: TRACE_ID, spanId: SPAN_ID, flags: '03' };
    expect(parseTraceParent(`00-${TRACE_ID}-${SPAN_ID}-03`)).toEqual(context);
    expect(formatTraceParent(context)).toBe(`00-${TRACE_ID}-${SPAN_ID}-03`);
  });

  test.each([
    ['00', false],
    ['01', true],
    ['02', false],
    ['03', true],
  ])('flags %s: sampled %s', (flags, expected) => {
    const context = parseTraceParent(`00-${TRACE_ID}-${SPAN_ID}-${flags}`) as TraceContext;
    expect(isSampled(context)).toBe(expected);
  });

  test.each([
    ['nothing', null],
    ['an empty text', ''],
    ['another version', `01-${TRACE_ID}-${SPAN_ID}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    ['a parent of zeros', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['capitals', `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`],
    ['more behind it', `00-${TRACE_ID}-${SPAN_ID}-01-x`],
  ])('%s is none', (_what, text) => {
    expect(parseTraceParent(text)).toBeNull();
  });

  test('new ids are valid and unlike each other', () => {
    const [one, other] = [newTraceId(), newTraceId()];
    expect(one).not.toBe(other);
    expect(parseTraceParent(`00-${one}-${newSpanId()}-01`)?.traceId).toBe(one);
  });
});
