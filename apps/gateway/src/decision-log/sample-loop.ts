/** A small loop on request, so that a first visitor sees an alert before writing a line of code. */
import type { IngestAnswer } from '#contracts';
import type { Clock, IdSource } from '#kernel';
import type { SchemaInterceptor } from './schema-interceptor.js';

const STEP_COUNT = 5;
const ID_BYTES = 6;

export class SampleLoop {
  constructor(
    private readonly interceptor: SchemaInterceptor,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {}

  async send(tenantId: string): Promise<{ session_id: string; results: IngestAnswer[] }> {
    const session_id = `sample-${this.ids.next(ID_BYTES)}`;
    const steps = Array.from({ length: STEP_COUNT }, (_, index) => this.#step(session_id, index));
    const results = await this.interceptor.intercept(
      tenantId,
      steps.map((value) => ({ value, text: null })),
    );
    return { session_id, results };
  }

  #step(session_id: string, index: number) {
    return {
      meta: {
        trace_id: `${session_id}-${index + 1}`,
        timestamp: new Date(this.clock.nowMs()).toISOString(),
        session_id,
        parent_step_id: index === 0 ? null : `${session_id}-${index}`,
        source_app: 'observatory-sample',
      },
      identity: { agent_id: 'sample-agent', agent_type: 'researcher', capability_version: '1.0.0' },
      cognition: {
        intent: 'Read the quarterly report',
        reasoning_chain: ['The report was not found.', 'Maybe it is there now: try the same path again.'],
        confidence_score: 0.9,
      },
      action: {
        status: 'failure',
        tool_call: 'read_file',
        tool_input: { path: '/reports/q3.pdf' },
        tool_output_summary: 'ENOENT: no such file',
        duration_ms: 120,
      },
      state_delta: {
        tokens_consumed: 850,
        cumulative_session_cost: Number((0.004 * (index + 1)).toFixed(4)),
      },
    };
  }
}
