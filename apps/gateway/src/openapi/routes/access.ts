import { z } from 'zod';
import {
  createAgentKeyBodySchema,
  createdAgentKeySchema,
  createdOperatorSchema,
  createOperatorBodySchema,
  loginBodySchema,
  meSchema,
  runtimeConfigAnswerSchema,
  runtimeConfigPatchSchema,
} from '#contracts';
import { switchTenantBodySchema } from '../../auth/auth.controller.js';
import type { Route } from '../route.js';
import { onboardingSchema, pages } from '../schemas.js';
import { EXAMPLE, ok } from './parameters.js';

const me = {
  operator_id: EXAMPLE.operatorId,
  role: 'operator',
  tenant_id: 'default',
  tenant_ids: ['default'],
  permissions: ['observe', 'command'],
};

export const ACCESS_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/config',
    tag: 'Configuration',
    summary: 'Read the settings',
    description: 'What is in force, the defaults, and one warning per value that could not be used.',
    caller: 'observe',
    answers: { 200: { description: 'The settings.', schema: runtimeConfigAnswerSchema } },
  },
  {
    method: 'patch',
    path: '/v1/config',
    tag: 'Configuration',
    summary: 'Change settings',
    description: 'Any subset; null puts a setting back to its default. Takes an operator of all tenants.',
    caller: 'configure',
    body: {
      content: { 'application/json': runtimeConfigPatchSchema },
      example: { entropy_tool_key: 'name+input', hitl_pause_ttl_ms: null },
    },
    answers: { 200: { description: 'The settings as they are now.', schema: runtimeConfigAnswerSchema } },
    errors: ['invalid_fields'],
  },
  {
    method: 'post',
    path: '/v1/auth/login',
    tag: 'Access',
    summary: 'Log in',
    description:
      'Sets the cookie observatory_session for 30 days. Programs send their token with each request instead.',
    caller: 'anybody',
    body: {
      content: { 'application/json': loginBodySchema },
      example: { token: 'obs_op_...', operator_id: EXAMPLE.operatorId },
    },
    answers: { 200: { description: 'Logged in.', schema: meSchema, example: me } },
    errors: ['unauthorized', 'origin_refused', 'invalid_fields', 'rate_limited'],
  },
  {
    method: 'post',
    path: '/v1/auth/logout',
    tag: 'Access',
    summary: 'Log out',
    caller: 'anybody',
    answers: { 200: ok() },
    errors: ['origin_refused'],
  },
  {
    method: 'get',
    path: '/v1/auth/me',
    tag: 'Access',
    summary: 'Who am I',
    caller: 'observe',
    answers: { 200: { description: 'You.', schema: meSchema, example: me } },
  },
  {
    method: 'post',
    path: '/v1/auth/tenant',
    tag: 'Access',
    summary: 'Switch the tenant of a login',
    description: 'With a bearer token send X-Tenant-Id on each request instead.',
    caller: 'observe',
    body: { content: { 'application/json': switchTenantBodySchema }, example: { tenant_id: 'default' } },
    answers: { 200: { description: 'You, in that tenant.', schema: meSchema, example: me } },
    errors: ['invalid_request', 'invalid_fields'],
  },
  {
    method: 'get',
    path: '/v1/agent-keys',
    tag: 'Access',
    summary: 'List agent keys',
    description: 'Those of the tenant acted for, revoked ones included.',
    caller: 'manage_access',
    answers: { 200: { description: 'All of them.', schema: pages.agentKeys } },
  },
  {
    method: 'post',
    path: '/v1/agent-keys',
    tag: 'Access',
    summary: 'Create an agent key',
    description:
      'The secret is in this answer and nowhere else, ever. Proxied calls with a key for several tenants (tenant_ids) name ' +
      'theirs in X-Tenant-Id; its DecisionLogs, and calls that name none, belong to its own. A key for some agents (agent_ids) may ' +
      'speak for these alone: whoever has it leaves neither their policies nor their kill switches behind by taking another name.',
    caller: 'manage_access',
    body: { content: { 'application/json': createAgentKeyBodySchema }, example: { name: 'research fleet' } },
    answers: { 201: { description: 'The key and its secret.', schema: createdAgentKeySchema } },
    errors: ['invalid_fields'],
  },
  {
    method: 'delete',
    path: '/v1/agent-keys/{key_id}',
    tag: 'Access',
    summary: 'Revoke an agent key',
    description: 'In force at once, also for open sockets, and for calls that wait or are at their upstream.',
    caller: 'manage_access',
    params: z.object({ key_id: z.string() }),
    answers: { 200: ok() },
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/v1/operators',
    tag: 'Access',
    summary: 'List operators',
    caller: 'manage_access',
    answers: { 200: { description: 'All of them.', schema: pages.operators } },
  },
  {
    method: 'post',
    path: '/v1/operators',
    tag: 'Access',
    summary: 'Create an operator',
    description:
      'The secret is in this answer and nowhere else, ever. Tenants default to the one acted for; * is all.',
    caller: 'manage_access',
    body: {
      content: { 'application/json': createOperatorBodySchema },
      example: { name: 'night shift', role: 'operator' },
    },
    answers: { 201: { description: 'The operator and its secret.', schema: createdOperatorSchema } },
    errors: ['invalid_fields'],
  },
  {
    method: 'delete',
    path: '/v1/operators/{token_id}',
    tag: 'Access',
    summary: 'Revoke an operator',
    description:
      'Ends its logins and sockets at once. The last administrator of all tenants cannot be revoked.',
    caller: 'manage_access',
    params: z.object({ token_id: z.string() }),
    answers: { 200: ok() },
    errors: ['not_found'],
  },
  {
    method: 'get',
    path: '/v1/tenants',
    tag: 'Access',
    summary: 'List tenants',
    description: 'Those that have an agent key and that you may act for.',
    caller: 'manage_access',
    answers: {
      200: {
        description: 'Sorted.',
        schema: pages.tenants,
        example: { items: ['default'], next_cursor: null },
      },
    },
  },
  {
    method: 'get',
    path: '/v1/onboarding',
    tag: 'Access',
    summary: 'How to send a first message',
    description: 'The key is null unless you administer its tenant and this process still knows it.',
    caller: 'observe',
    answers: {
      200: {
        description: 'Where to send, and a key.',
        schema: onboardingSchema,
        example: { agent_key: null, ingest_url: 'http://127.0.0.1:4000/v1/decision-logs' },
      },
    },
  },
];
