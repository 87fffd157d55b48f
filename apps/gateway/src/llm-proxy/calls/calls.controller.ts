/** Reading back what went through the proxy: calls, incidents, spend; and the calls an operator holds right now. */
import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  CALL_DECISIONS,
  type HeldCall,
  type Incident,
  LIMITS,
  type LlmCall,
  ObservatoryError,
  type OperatorPrincipal,
  type Page,
  type ProxyStore,
  SPEND_GROUPS,
  type SpendLine,
} from '#contracts';
import { type Clock, DAY_MS } from '#kernel';
import { Principal, Requires } from '../../auth/access.js';
import { parseFields } from '../../errors/field-errors.js';
import { pageQuery, queryFlag, queryNumber } from '../../page-query.js';
import { CLOCK, PROXY_STORE } from '../../tokens.js';
import { LlmProxyArea } from '../llm-proxy.area.js';

const id = z.string().min(1).max(LIMITS.idCharsMax).optional();
const timeMs = queryNumber(z.coerce.number().int().nonnegative()).optional();
const fromMs = timeMs.describe('Started at or after, epoch milliseconds.');
const toMs = timeMs.describe('Started before.');

export const callsQuery = z.object({
  agent_id: id,
  session_id: id,
  model: id,
  decision: z.enum(CALL_DECISIONS).optional().describe('What became of the call.'),
  failed: queryFlag.describe('Status 400 and above, or no answer.'),
  from_ms: fromMs,
  to_ms: toMs,
  ...pageQuery.shape,
});
export const incidentsQuery = z.object({
  agent_id: id,
  open: queryFlag.describe('Only those whose agent nobody has reactivated since, or only the others.'),
  ...pageQuery.shape,
});
export const heldQuery = z.object({ agent_id: id, session_id: id });
/** Where nobody says from when. */
const SPEND_SHOWN_MS = 30 * DAY_MS;

export const spendQuery = z.object({
  group: z.enum(SPEND_GROUPS),
  from_ms: fromMs,
  to_ms: toMs,
  agent_id: id,
  model: id,
});

@Controller('v1')
export class CallsController {
  constructor(
    @Inject(PROXY_STORE) private readonly store: ProxyStore,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly proxy: LlmProxyArea,
  ) {}

  @Get('calls')
  @Requires('observe')
  async calls(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Query() query: unknown,
  ): Promise<Page<LlmCall>> {
    const filter = parseFields(callsQuery, query);
    await this.proxy.log.flush();
    return this.store.calls({ tenant_id, ...filter });
  }

  @Get('calls/:call_id')
  @Requires('observe')
  async call(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Param('call_id') callId: string,
  ): Promise<LlmCall> {
    await this.proxy.log.flush();
    const call = await this.store.call(tenant_id, callId);
    if (call === null) throw new ObservatoryError('call_not_found');
    return call;
  }

  @Get('held-calls')
  @Requires('observe')
  held(@Principal() { tenant_id }: OperatorPrincipal, @Query() query: unknown): { items: HeldCall[] } {
    const { agent_id: agentId, session_id: sessionId } = parseFields(heldQuery, query);
    return { items: this.proxy.held.of(tenant_id, { agentId, sessionId }).slice(0, LIMITS.pageRowsMax) };
  }

  @Get('incidents')
  @Requires('observe')
  async incidents(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Query() query: unknown,
  ): Promise<Page<Incident>> {
    await this.proxy.incidents.settled();
    return this.store.incidents({ tenant_id, ...parseFields(incidentsQuery, query) });
  }

  @Get('incidents/:incident_id')
  @Requires('observe')
  async incident(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Param('incident_id') incidentId: string,
  ): Promise<Incident> {
    const incident = await this.store.incident(tenant_id, incidentId);
    if (incident === null) throw new ObservatoryError('incident_not_found');
    return incident;
  }

  @Get('spend')
  @Requires('observe')
  async spend(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Query() query: unknown,
  ): Promise<{ items: SpendLine[] }> {
    const given = parseFields(spendQuery, query);
    await this.proxy.log.flush();
    const to_ms = given.to_ms ?? this.clock.nowMs();
    const from_ms = given.from_ms ?? to_ms - SPEND_SHOWN_MS;
    return { items: await this.store.spend({ tenant_id, ...given, from_ms, to_ms }) };
  }
}
