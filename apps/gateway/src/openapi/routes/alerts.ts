import { z } from 'zod';
import {
  acknowledgeBodySchema,
  alertChannelBodySchema,
  alertChannelPatchSchema,
  alertChannelSchema,
  alertDeliverySchema,
  alertRuleBodySchema,
  alertRulePatchSchema,
  alertRuleSchema,
  channelTestSchema,
  createdAlertChannelSchema,
  deadLettersRetriedSchema,
  deadLettersRetrySchema,
  LIMITS,
} from '#contracts';
import { deliveriesQuery } from '../../alerts/alerts.controller.js';
import type { Route } from '../route.js';
import { pages } from '../schemas.js';
import { ok } from './parameters.js';

const id = z.string().min(1).max(LIMITS.idCharsMax);
const ruleParams = z.object({ rule_id: id });
const channelParams = z.object({ channel_id: id });
const deliveryParams = z.object({ delivery_id: id });

export const ALERT_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/alert-rules',
    tag: 'Alerts',
    summary: 'List alert rules',
    description:
      'With what is firing now. A tenant that never changed a rule has four, without a channel: for the kill switch, for loops, ' +
      'for semantic loops and for agents that wait for a person. A default rule that a later version brings joins the rules of ' +
      'a tenant that has none of its type, without a channel as well.',
    caller: 'observe',
    answers: { 200: { description: 'Oldest first.', schema: pages.alertRules } },
  },
  {
    method: 'post',
    path: '/v1/alert-rules',
    tag: 'Alerts',
    summary: 'Create an alert rule',
    description:
      'A notice is said when the rule begins to fire for an agent, again every repeat_s while it lasts, and when it is ' +
      'over. Within cooldown_s of a notice nothing more is said of that agent, but that it is over. A rule of the type spend ' +
      'needs threshold_usd.',
    caller: 'configure',
    body: {
      content: { 'application/json': alertRuleBodySchema },
      example: { name: 'Budget nearly gone', type: 'budget', threshold: 0.9, channel_ids: [] },
    },
    answers: { 201: { description: 'The rule.', schema: alertRuleSchema } },
    errors: ['invalid_fields'],
  },
  {
    method: 'post',
    path: '/v1/alert-rules/{rule_id}/acknowledge',
    tag: 'Alerts',
    summary: 'Take an alert in hand',
    description:
      'While somebody has it, for eight hours at most, it is not repeated for this agent. What is new about it is told, and its ' +
      'end, and so is what the rule has to say of other agents. With acknowledged: false anybody hands it back.',
    caller: 'command',
    params: ruleParams,
    body: {
      content: { 'application/json': acknowledgeBodySchema },
      example: { agent_id: 'crawler' },
    },
    answers: { 200: { description: 'The rule, with what is firing now.', schema: alertRuleSchema } },
    errors: ['invalid_fields', 'alert_rule_not_found', 'alert_not_firing', 'alert_acknowledged'],
  },
  {
    method: 'patch',
    path: '/v1/alert-rules/{rule_id}',
    tag: 'Alerts',
    summary: 'Change or mute an alert rule',
    description:
      'Any subset. The type stays: create another rule instead. A change of nothing writes nothing, in the audit neither.',
    caller: 'configure',
    params: ruleParams,
    body: {
      content: { 'application/json': alertRulePatchSchema },
      example: { cooldown_s: 600, notify_recovery: false },
    },
    answers: { 200: { description: 'The rule as it is now.', schema: alertRuleSchema } },
    errors: ['invalid_fields', 'alert_rule_not_found'],
  },
  {
    method: 'delete',
    path: '/v1/alert-rules/{rule_id}',
    tag: 'Alerts',
    summary: 'Delete an alert rule',
    caller: 'configure',
    params: ruleParams,
    answers: { 200: ok() },
    errors: ['alert_rule_not_found'],
  },
  {
    method: 'get',
    path: '/v1/alert-channels',
    tag: 'Alerts',
    summary: 'List alert channels',
    description: 'Without their secrets; target shows where they lead, without the path of a URL.',
    caller: 'observe',
    answers: { 200: { description: 'Oldest first.', schema: pages.alertChannels } },
  },
  {
    method: 'post',
    path: '/v1/alert-channels',
    tag: 'Alerts',
    summary: 'Create an alert channel',
    description:
      'A webhook gets the notice as JSON, signed: x-observatory-signature is t=<unix seconds>,v1=<hex>, the HMAC-SHA256 of ' +
      '"<t>.<body>" under the secret. x-observatory-delivery is the same for every attempt of one delivery. ' +
      'Addresses that are private or loopback are refused unless allow_private, link-local ones and metadata services always.',
    caller: 'configure',
    body: {
      content: { 'application/json': alertChannelBodySchema },
      example: { kind: 'webhook', name: 'On call', url: 'https://hooks.example.org/observatory' },
    },
    answers: {
      201: {
        description:
          'The channel, and the signing secret if one was made: it is in this answer and nowhere else.',
        schema: createdAlertChannelSchema,
      },
    },
    errors: ['invalid_fields'],
  },
  {
    method: 'patch',
    path: '/v1/alert-channels/{channel_id}',
    tag: 'Alerts',
    summary: 'Change an alert channel',
    description:
      'What is absent stays, null takes away; a password has to be given again when its server changes. A change closes its circuit; one of nothing writes nothing.',
    caller: 'configure',
    params: channelParams,
    body: { content: { 'application/json': alertChannelPatchSchema }, example: { name: 'On call, nights' } },
    answers: { 200: { description: 'The channel as it is now.', schema: alertChannelSchema } },
    errors: ['invalid_fields', 'alert_channel_not_found'],
  },
  {
    method: 'delete',
    path: '/v1/alert-channels/{channel_id}',
    tag: 'Alerts',
    summary: 'Delete an alert channel',
    description: 'Rules that named it go on without it; what waits for it becomes a dead letter.',
    caller: 'configure',
    params: channelParams,
    answers: { 200: ok() },
    errors: ['alert_channel_not_found'],
  },
  {
    method: 'post',
    path: '/v1/alert-channels/{channel_id}/test',
    tag: 'Alerts',
    summary: 'Send a test',
    description: 'Now, and once; a failure is an answer too, with its reason.',
    caller: 'configure',
    params: channelParams,
    answers: {
      200: {
        description: 'How it went.',
        schema: channelTestSchema,
        example: { status: 'failed', detail: 'Not delivered: it answers 404.', duration_ms: 84 },
      },
    },
    errors: ['alert_channel_not_found', 'rate_limited'],
  },
  {
    method: 'get',
    path: '/v1/alert-deliveries',
    tag: 'Alerts',
    summary: 'List deliveries',
    description:
      'Newest first. The dead ones are those nobody got: refused, given up after ten attempts, or too old.',
    caller: 'observe',
    query: deliveriesQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.alertDeliveries } },
  },
  {
    method: 'post',
    path: '/v1/alert-deliveries/{delivery_id}/retry',
    tag: 'Alerts',
    summary: 'Send a dead letter again',
    description:
      'With all its attempts before it. One that waits is brought forward; a delivered one stays as it is.',
    caller: 'configure',
    params: deliveryParams,
    answers: { 200: { description: 'The delivery as it is now.', schema: alertDeliverySchema } },
    errors: ['delivery_not_found', 'alert_channel_not_found'],
  },
  {
    method: 'post',
    path: '/v1/alert-deliveries/retry',
    tag: 'Alerts',
    summary: 'Send all dead letters again',
    description:
      'The oldest first, those of one channel or of all, but for channels that were removed; as many as there is room for.',
    caller: 'configure',
    readsStore: true,
    body: {
      content: { 'application/json': deadLettersRetrySchema },
      example: { channel_id: 'chn_Zm9vYmFyYmF6' },
    },
    answers: {
      200: {
        description: 'How many were put back.',
        schema: deadLettersRetriedSchema,
        example: { retried_count: 51, has_more: false },
      },
    },
    errors: ['alert_channel_not_found'],
  },
];
