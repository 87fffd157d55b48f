/** How an agent without a socket hears of control: a long poll it can resume, and an acknowledgement. */
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import {
  type AckAnswer,
  type AgentPrincipal,
  ackBodySchemas,
  type ControlPollAnswer,
  LIMITS,
  ObservatoryError,
  sessionKey,
} from '#contracts';
import { Interrupt } from '#kernel';
import { type AnyPrincipal, Principal, RequiresAgent, RequiresAgentOr } from '../auth/access.js';
import { AUTHENTICATOR, type Authenticator } from '../auth/authenticator.js';
import { parseFields } from '../errors/field-errors.js';
import { queryNumber } from '../page-query.js';
import { CONTROL_DESK } from './control-desk.js';
import type { HitlDesk } from './hitl-desk.js';
import { parseSessionId } from './session-id.js';

export const pollQuery = z.object({
  wait_s: queryNumber(z.coerce.number().min(0).max(LIMITS.pollWaitSecondsMax))
    .default(0)
    .describe('Longest wait, seconds.'),
  after: queryNumber(z.coerce.number().int().nonnegative())
    .optional()
    .describe('The cursor of the answer before.'),
});

@Controller('v1/sessions/:session_id/control')
export class AgentControlController {
  constructor(
    @Inject(CONTROL_DESK) private readonly desk: HitlDesk,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  /** Whose key, token or login ends while the poll hangs is told so at once, and nothing else. */
  @Get()
  @RequiresAgentOr('observe')
  async poll(
    @Principal() principal: AnyPrincipal,
    @Param('session_id') sessionId: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ControlPollAnswer> {
    const { wait_s, after } = parseFields(pollQuery, query);
    const key = sessionKey(principal.tenant_id, parseSessionId(sessionId));
    const isAgent = principal.kind === 'agent';
    const isInForce = (): boolean =>
      principal.kind === 'agent' ? this.authenticator.isInForce(principal) : principal.isInForce();
    const over = new Interrupt();
    let isHungUp = false;
    reply.raw.once('close', () => {
      isHungUp = true;
      over.raise();
    });
    const unwatch = this.authenticator.onRevoked(() => {
      if (!isInForce()) over.raise();
    });
    const wait = { after, waitMs: wait_s * 1_000, isAgent, interrupt: over };
    const answer = await this.desk.poll(key, wait).finally(unwatch);
    if (!isInForce()) throw new ObservatoryError('unauthorized');
    reply.header('cache-control', 'no-store');
    // `finish` without an earlier `close`: handed to the operating system on a connection that was still open.
    if (isAgent) {
      reply.raw.once('finish', () => {
        if (!isHungUp && isInForce()) this.desk.noteDelivered(key, answer);
      });
    }
    return answer;
  }

  /** `{seq}` confirms everything up to it, `{directive_ids}` just these. Confirming twice does nothing. */
  @Post('ack')
  @HttpCode(200)
  @RequiresAgent()
  async acknowledge(
    @Principal() principal: AgentPrincipal,
    @Param('session_id') sessionId: string,
    @Body() body: unknown,
  ): Promise<AckAnswer> {
    const key = sessionKey(principal.tenant_id, parseSessionId(sessionId));
    const names = (field: string): boolean => typeof body === 'object' && body !== null && field in body;
    const namesIds = names('directive_ids');
    if (!namesIds && !names('seq'))
      throw new ObservatoryError('invalid_fields', 'Give seq, or directive_ids.', {
        fields: ['seq', 'directive_ids'],
      });
    const confirmed = namesIds
      ? {
          kind: 'taken_ids' as const,
          directiveIds: parseFields(ackBodySchemas.directiveIds, body).directive_ids,
        }
      : { kind: 'taken' as const, upToSeq: parseFields(ackBodySchemas.seq, body).seq };
    const wasWaiting = await this.desk.confirm(key, confirmed, 'ack');
    return wasWaiting ? { status: 'ok' } : { status: 'ok', note: 'nothing_waiting' };
  }
}
