/** Reading back what was stored: sessions, their steps, alerts, violations. Listings are `{items, next_cursor}`. */
import { Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  type AgentPrincipal,
  type DecisionStore,
  type EntropyAlertEvent,
  type IngestAnswer,
  LIMITS,
  ObservatoryError,
  type OperatorPrincipal,
  type Page,
  SEVERITIES,
  type SessionAnswer,
  type SessionView,
  type StepView,
  type StoredViolation,
  sessionKey,
} from '#contracts';
import { stepViewOf } from '#domain/decision-log';
import { Principal, Requires, RequiresAgentOr } from '../auth/access.js';
import { parseFields } from '../errors/field-errors.js';
import { pageQuery, queryFlag } from '../page-query.js';
import { STORE } from '../tokens.js';
import { SampleLoop } from './sample-loop.js';
import { SessionRegistry } from './session-registry.js';

type Caller = OperatorPrincipal | AgentPrincipal;

export const sessionsQuery = z.object({
  q: z
    .string()
    .max(LIMITS.idCharsMax)
    .optional()
    .describe('Found in session id, agent id, last intent or last tool, whatever the case.'),
  severity: z.enum(SEVERITIES).optional(),
  agent_id: z.string().max(LIMITS.idCharsMax).optional(),
  ended: queryFlag.describe('Only those that have ended, or that have not.'),
  ...pageQuery.shape,
});
export const stepsQuery = z.object({
  order: z.enum(['asc', 'desc']).default('asc').describe('Oldest first, or newest first.'),
  ...pageQuery.shape,
});
export const alertsQuery = z.object({
  session_id: z.string().max(LIMITS.idCharsMax).optional().describe('Only those of one session.'),
  ...pageQuery.shape,
});

@Controller('v1')
export class SessionsController {
  constructor(
    @Inject(STORE) private readonly store: DecisionStore,
    private readonly registry: SessionRegistry,
    private readonly sample: SampleLoop,
  ) {}

  @Get('sessions')
  @RequiresAgentOr('observe')
  async sessions(@Principal() { tenant_id }: Caller, @Query() query: unknown): Promise<Page<SessionView>> {
    const filter = parseFields(sessionsQuery, query);
    await this.registry.save();
    return this.store.sessions({ tenant_id, ...filter });
  }

  @Get('sessions/:session_id')
  @RequiresAgentOr('observe')
  async session(
    @Principal() { tenant_id }: Caller,
    @Param('session_id') sessionId: string,
  ): Promise<SessionAnswer> {
    const view = await this.requireSession(tenant_id, sessionId);
    return { ...view, alert: await this.store.alertGroup(tenant_id, sessionId) };
  }

  @Get('sessions/:session_id/decision-logs')
  @RequiresAgentOr('observe')
  async steps(
    @Principal() { tenant_id }: Caller,
    @Param('session_id') session_id: string,
    @Query() query: unknown,
  ): Promise<Page<StepView>> {
    const options = parseFields(stepsQuery, query);
    const { items, next_cursor } = await this.store.steps({ tenant_id, session_id, ...options });
    // A session whose every step is held has no row yet, and still exists.
    if (items.length === 0) await this.requireSession(tenant_id, session_id);
    return { items: items.map(stepViewOf), next_cursor };
  }

  @Get('alerts')
  @Requires('observe')
  alerts(
    @Principal() { tenant_id }: Caller,
    @Query() query: unknown,
  ): Promise<Page<EntropyAlertEvent & { seq: number }>> {
    return this.store.alerts({ tenant_id, ...parseFields(alertsQuery, query) });
  }

  @Get('violations')
  @Requires('observe')
  violations(@Principal() { tenant_id }: Caller, @Query() query: unknown): Promise<Page<StoredViolation>> {
    return this.store.violations({ tenant_id, ...parseFields(pageQuery, query) });
  }

  /** Five equal steps of a made-up agent, through the real ingest path: something to look at on an empty page. */
  @Post('sample-loop')
  @HttpCode(202)
  @Requires('command')
  sampleLoop(@Principal() { tenant_id }: Caller): Promise<{ session_id: string; results: IngestAnswer[] }> {
    return this.sample.send(tenant_id);
  }

  private async requireSession(tenantId: string, sessionId: string): Promise<SessionView> {
    const view = await this.registry.find(sessionKey(tenantId, sessionId));
    if (view === null) throw new ObservatoryError('session_not_found');
    return view;
  }
}
