/** Reading back the semantic loops that were found. */
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  LIMITS,
  type OperatorPrincipal,
  type Page,
  type ProxyStore,
  type SemanticLoopEvent,
} from '#contracts';
import { Principal, Requires } from '../auth/access.js';
import { parseFields } from '../errors/field-errors.js';
import { pageQuery } from '../page-query.js';
import { PROXY_STORE } from '../tokens.js';
import { SemanticLoopArea } from './semantic-loop.area.js';

export const loopsQuery = z.object({
  session_id: z.string().min(1).max(LIMITS.idCharsMax).optional(),
  ...pageQuery.shape,
});

@Controller('v1/semantic-loops')
export class SemanticLoopsController {
  constructor(
    @Inject(PROXY_STORE) private readonly store: ProxyStore,
    private readonly area: SemanticLoopArea,
  ) {}

  @Get()
  @Requires('observe')
  async list(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Query() query: unknown,
  ): Promise<Page<SemanticLoopEvent>> {
    const filter = parseFields(loopsQuery, query);
    await this.area.settled();
    return this.store.semanticLoops({ tenant_id, ...filter });
  }
}
