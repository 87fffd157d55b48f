/** The cache, for operators: figures, entries without their texts, semantic matches to judge, and invalidation. */
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  type CacheEntryView,
  type CacheStats,
  cacheInvalidateSchema,
  cacheVerdictSchema,
  ObservatoryError,
  type OperatorPrincipal,
  type Page,
  type SemanticMatch,
} from '#contracts';
import { Principal, Requires } from '../auth/access.js';
import { parseFields } from '../errors/field-errors.js';
import { pageQuery } from '../page-query.js';
import { LlmCacheArea } from './llm-cache.area.js';

@Controller('v1/cache')
export class CacheController {
  constructor(private readonly area: LlmCacheArea) {}

  @Get('stats')
  @Requires('observe')
  stats(@Principal() { tenant_id }: OperatorPrincipal): Promise<CacheStats> {
    return this.area.stats(tenant_id);
  }

  @Get('entries')
  @Requires('observe')
  entries(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Query() query: unknown,
  ): Promise<Page<CacheEntryView>> {
    return this.area.entries(tenant_id, parseFields(pageQuery, query));
  }

  @Get('matches')
  @Requires('observe')
  matches(@Principal() { tenant_id }: OperatorPrincipal, @Query() query: unknown): Page<SemanticMatch> {
    return this.area.matches(tenant_id, parseFields(pageQuery, query));
  }

  @Post('matches/:match_id/verdict')
  @HttpCode(200)
  @Requires('command')
  async judge(
    @Principal() operator: OperatorPrincipal,
    @Param('match_id') matchId: string,
    @Body() body: unknown,
  ): Promise<SemanticMatch> {
    const { verdict } = parseFields(cacheVerdictSchema, body);
    const match = await this.area.judge(operator, matchId, verdict);
    if (match === null) throw new ObservatoryError('cache_match_not_found');
    return match;
  }

  @Post('invalidate')
  @HttpCode(200)
  @Requires('command')
  async invalidate(
    @Principal() operator: OperatorPrincipal,
    @Body() body: unknown,
  ): Promise<{ status: 'ok'; count: number; preview: boolean }> {
    const wanted = parseFields(cacheInvalidateSchema, body ?? {});
    const count = await this.area.invalidate(operator, wanted);
    return { status: 'ok', count, preview: wanted.preview };
  }
}
