/** Where finished spans go: a collector of distributed traces. */

export type SpanAttribute = string | number | boolean | readonly string[];

/** Attributes name models, agents, decisions and numbers; never what was said, and no key. */
export interface FinishedSpan {
  traceId: string;
  spanId: string;
  /** Null for the first of its trace. */
  parentSpanId: string | null;
  name: string;
  /** `server`: asked by somebody else. `client`: asks somebody else. */
  kind: 'server' | 'client' | 'internal';
  /** Milliseconds since 1970, with fractions. */
  startMs: number;
  durationMs: number;
  attributes: Readonly<Record<string, SpanAttribute>>;
  /** Null: it went well. */
  error: string | null;
}

export interface SpanSink {
  /** Takes spans along; never waits and never throws. */
  export(spans: readonly FinishedSpan[]): void;
  /** Sends what waits, as far as somebody takes it. Never rejects. */
  close(): Promise<void>;
}
