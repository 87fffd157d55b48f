/** Rules, channels and deliveries of the tenant acted for. */
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query } from '@nestjs/common';
import { z } from 'zod';
import {
  type AlertChannel,
  type AlertDelivery,
  type AlertRule,
  acknowledgeBodySchema,
  alertChannelBodySchema,
  alertChannelPatchSchema,
  alertRuleBodySchema,
  alertRulePatchSchema,
  type ChannelTest,
  DELIVERY_STATES,
  type DeadLettersRetried,
  deadLettersRetrySchema,
  LIMITS,
  type OperatorPrincipal,
  type Page,
} from '#contracts';
import { Principal, Requires } from '../auth/access.js';
import { parseFields } from '../errors/field-errors.js';
import { pageQuery, wholeList } from '../page-query.js';
import { AlertsArea } from './alerts.area.js';

export const deliveriesQuery = z.object({
  ...pageQuery.shape,
  state: z.enum(DELIVERY_STATES).optional(),
  channel_id: z.string().min(1).max(LIMITS.idCharsMax).optional(),
});

@Controller('v1')
export class AlertsController {
  constructor(@Inject(AlertsArea) private readonly alerts: AlertsArea) {}

  @Get('alert-rules')
  @Requires('observe')
  rules(@Principal() { tenant_id }: OperatorPrincipal): Page<AlertRule> {
    return wholeList(this.alerts.rules.list(tenant_id));
  }

  @Post('alert-rules')
  @Requires('configure')
  createRule(@Body() body: unknown, @Principal() principal: OperatorPrincipal): Promise<AlertRule> {
    return this.alerts.rules.create(principal, parseFields(alertRuleBodySchema, body));
  }

  @Patch('alert-rules/:rule_id')
  @Requires('configure')
  updateRule(
    @Param('rule_id') ruleId: string,
    @Body() body: unknown,
    @Principal() principal: OperatorPrincipal,
  ): Promise<AlertRule> {
    return this.alerts.rules.update(principal, ruleId, parseFields(alertRulePatchSchema, body));
  }

  @Post('alert-rules/:rule_id/acknowledge')
  @HttpCode(200)
  @Requires('command')
  acknowledge(
    @Param('rule_id') ruleId: string,
    @Body() body: unknown,
    @Principal() principal: OperatorPrincipal,
  ): Promise<AlertRule> {
    return this.alerts.rules.acknowledge(principal, ruleId, parseFields(acknowledgeBodySchema, body));
  }

  @Delete('alert-rules/:rule_id')
  @Requires('configure')
  async removeRule(@Param('rule_id') ruleId: string, @Principal() principal: OperatorPrincipal) {
    await this.alerts.rules.remove(principal, ruleId);
    return { status: 'ok' };
  }

  @Get('alert-channels')
  @Requires('observe')
  channels(@Principal() { tenant_id }: OperatorPrincipal): Page<AlertChannel> {
    return wholeList(this.alerts.channels.list(tenant_id));
  }

  @Post('alert-channels')
  @Requires('configure')
  createChannel(@Body() body: unknown, @Principal() principal: OperatorPrincipal) {
    return this.alerts.channels.create(principal, parseFields(alertChannelBodySchema, body));
  }

  @Patch('alert-channels/:channel_id')
  @Requires('configure')
  updateChannel(
    @Param('channel_id') channelId: string,
    @Body() body: unknown,
    @Principal() principal: OperatorPrincipal,
  ): Promise<AlertChannel> {
    return this.alerts.channels.update(principal, channelId, parseFields(alertChannelPatchSchema, body));
  }

  @Delete('alert-channels/:channel_id')
  @Requires('configure')
  async removeChannel(@Param('channel_id') channelId: string, @Principal() principal: OperatorPrincipal) {
    await this.alerts.channels.remove(principal, channelId);
    return { status: 'ok' };
  }

  @Post('alert-channels/:channel_id/test')
  @HttpCode(200)
  @Requires('configure')
  testChannel(
    @Param('channel_id') channelId: string,
    @Principal() principal: OperatorPrincipal,
  ): Promise<ChannelTest> {
    return this.alerts.channels.test(principal, channelId);
  }

  /** Newest first. */
  @Get('alert-deliveries')
  @Requires('observe')
  deliveries(
    @Principal() { tenant_id }: OperatorPrincipal,
    @Query() query: unknown,
  ): Promise<Page<AlertDelivery>> {
    return this.alerts.deliveries({ tenant_id, ...parseFields(deliveriesQuery, query) });
  }

  @Post('alert-deliveries/:delivery_id/retry')
  @HttpCode(200)
  @Requires('configure')
  retry(
    @Param('delivery_id') deliveryId: string,
    @Principal() principal: OperatorPrincipal,
  ): Promise<AlertDelivery> {
    return this.alerts.deadLetters.retry(principal, deliveryId);
  }

  @Post('alert-deliveries/retry')
  @HttpCode(200)
  @Requires('configure')
  retryAll(@Body() body: unknown, @Principal() principal: OperatorPrincipal): Promise<DeadLettersRetried> {
    const { channel_id } = parseFields(deadLettersRetrySchema, body);
    return this.alerts.deadLetters.retryAll(principal, channel_id);
  }
}
