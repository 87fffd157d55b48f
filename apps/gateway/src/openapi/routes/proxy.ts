import { z } from 'zod';
import {
  agentPolicyPatchSchema,
  agentPolicySchema,
  agentViewSchema,
  allAgentsPolicyPatchSchema,
  allAgentsPolicySchema,
  allAgentsViewSchema,
  incidentSchema,
  killSwitchAnswerSchema,
  killSwitchPatchSchema,
  LIMITS,
  llmCallSchema,
  priceTablePutSchema,
  priceTableSchema,
  upstreamNameSchema,
  upstreamPutSchema,
  upstreamSchema,
} from '#contracts';
import { deactivateBodySchema } from '../../llm-proxy/agents/agent-bodies.js';
import { agentsQuery } from '../../llm-proxy/agents/agents.controller.js';
import { callsQuery, heldQuery, incidentsQuery, spendQuery } from '../../llm-proxy/calls/calls.controller.js';
import { loopsQuery } from '../../semantic-loop/semantic-loops.controller.js';
import type { Route } from '../route.js';
import { agentCommandAnswerSchema, lists, pages } from '../schemas.js';

const id = z.string().min(1).max(LIMITS.idCharsMax);
const agentParams = z.object({ agent_id: id.describe('As calls name it; URL-encoded.') });
const upstreamParams = z.object({
  name: upstreamNameSchema.describe(
    'As in the proxy path /proxy/<name>/: lower-case letters, digits and -, at most 63.',
  ),
});

export const PROXY_ROUTES: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/agents',
    tag: 'Agents',
    summary: 'List agents',
    description:
      'Those that made proxied calls or have settings of their own: policy, spend, kill switch, what they do now. At most 2,000: of ' +
      'more, those that want somebody (stopped, held, refused, near a limit), then those that called last.',
    caller: 'observe',
    query: agentsQuery,
    answers: { 200: { description: 'By agent id.', schema: lists.agents } },
  },
  {
    method: 'get',
    path: '/v1/agents/{agent_id}',
    tag: 'Agents',
    summary: 'Look at one agent',
    caller: 'observe',
    params: agentParams,
    answers: { 200: { description: 'The agent.', schema: agentViewSchema } },
    errors: ['agent_not_found'],
  },
  {
    method: 'get',
    path: '/v1/agents/{agent_id}/policy',
    tag: 'Agents',
    summary: 'Read what an agent may do and spend',
    caller: 'observe',
    params: agentParams,
    answers: { 200: { description: 'The policy; null does not limit.', schema: agentPolicySchema } },
  },
  {
    method: 'patch',
    path: '/v1/agents/{agent_id}/policy',
    tag: 'Agents',
    summary: 'Change what an agent may do and spend',
    description:
      'Any subset; null lifts a limit. `semantic_loop` says how far a session that repeats itself is taken: off, hint, alert (the default) or pause; `cache`: on, exact_only or off. `allowed_models`: names as in the price table (`gpt-5-mini` stands for its dated versions too, `claude-haiku-*` for every ending); a call that names another one, or none that can be read, is refused with model_not_allowed. `unknown_cost`: pass (the default), or refuse with cost_unknown what nobody can price beforehand: batches, fine-tuning, pictures, sound, models without a price. Lists, counts and uploads pass. In force with the next call. The agent need not have been seen yet. A body that changes nothing, a `reason` alone included, writes nothing. With `active: true` it may call again under its new limits alone, and both are written as one. Where it is stopped meanwhile, by the kill switch or by an operator, it stays so and the answer is agent_stopped_again; the rest of the change stands.',
    caller: 'configure',
    params: agentParams,
    body: {
      content: { 'application/json': agentPolicyPatchSchema },
      example: { requests_per_minute: 60, budget_day_usd: 5, semantic_loop: 'pause' },
    },
    answers: { 200: { description: 'The policy as it is now.', schema: agentPolicySchema } },
    errors: ['agent_stopped_again'],
  },
  {
    method: 'get',
    path: '/v1/agents/{agent_id}/kill-switch',
    tag: 'Agents',
    summary: "Read an agent's kill switch",
    caller: 'observe',
    params: agentParams,
    answers: { 200: { description: 'Its settings and its live score.', schema: killSwitchAnswerSchema } },
  },
  {
    method: 'patch',
    path: '/v1/agents/{agent_id}/kill-switch',
    tag: 'Agents',
    summary: "Change an agent's kill switch",
    description:
      'Any subset. Presets: strict 10/5, default 20/10, tolerant 50/20 (window/threshold). A body that changes nothing writes nothing.',
    caller: 'configure',
    params: agentParams,
    body: { content: { 'application/json': killSwitchPatchSchema }, example: { preset: 'tolerant' } },
    answers: { 200: { description: 'The settings as they are now.', schema: killSwitchAnswerSchema } },
  },
  {
    method: 'post',
    path: '/v1/agents/{agent_id}/deactivate',
    tag: 'Agents',
    summary: 'Deactivate an agent',
    description:
      'Its proxied calls are refused from now on, those that wait or are at their upstream as well: they end with 403 `agent_inactive`, a stream that has begun with an error event. In force at once, whatever the disk does: a 503 says that it is in force, but not stored yet. Where it is stopped already, for this reason and in all its sessions, nothing is written, and the note says `already_inactive`.',
    caller: 'command',
    params: agentParams,
    body: { content: { 'application/json': deactivateBodySchema }, example: { reason: 'spends too much' } },
    answers: {
      200: { description: 'Done, or a note that it was inactive already.', schema: agentCommandAnswerSchema },
    },
  },
  {
    method: 'post',
    path: '/v1/agents/{agent_id}/reactivate',
    tag: 'Agents',
    summary: 'Reactivate an agent',
    description:
      'Clears the windows of its kill switch and closes its incidents. Of two operators at once, one is told already_active. Where it is stopped meanwhile, by the kill switch or by an operator, it stays so and the answer is agent_stopped_again.',
    caller: 'command',
    params: agentParams,
    answers: {
      200: { description: 'Done, or a note.', schema: agentCommandAnswerSchema, example: { status: 'ok' } },
    },
    errors: ['agent_stopped_again'],
  },
  {
    method: 'get',
    path: '/v1/all-agents',
    tag: 'Agents',
    summary: 'Look at all agents taken together',
    caller: 'observe',
    answers: {
      200: {
        description: 'What they may do and spend together, and what they have spent.',
        schema: allAgentsViewSchema,
      },
    },
  },
  {
    method: 'get',
    path: '/v1/all-agents/policy',
    tag: 'Agents',
    summary: 'Read what all agents may do and spend together',
    caller: 'observe',
    answers: { 200: { description: 'The policy; null does not limit.', schema: allAgentsPolicySchema } },
  },
  {
    method: 'patch',
    path: '/v1/all-agents/policy',
    tag: 'Agents',
    summary: 'Change what all agents may do and spend together',
    description:
      "Holds for every agent of the tenant, known or not, beside its own policy: a call has to fit into both. Rates and budgets count what all of them use as one, so that no agent gets more of them by another name. Any subset; null lifts a limit. Fields as in an agent's policy, without those of sessions, semantic loops and the cache. In force with the next call.",
    caller: 'configure',
    body: {
      content: { 'application/json': allAgentsPolicyPatchSchema },
      example: { requests_per_minute: 6000, budget_day_usd: 200 },
    },
    answers: { 200: { description: 'The policy as it is now.', schema: allAgentsPolicySchema } },
  },
  {
    method: 'post',
    path: '/v1/all-agents/deactivate',
    tag: 'Agents',
    summary: 'Stop all agents',
    description:
      'Every proxied call of the tenant is refused from now on, those that wait or are at their upstream as well: they end with 403 `agent_inactive`, a stream that has begun with an error event. So is the first call of an agent that nobody has seen yet.',
    caller: 'command',
    body: {
      content: { 'application/json': deactivateBodySchema },
      example: { reason: 'the key has leaked' },
    },
    answers: {
      200: {
        description: 'Done, or a note that they were stopped already.',
        schema: agentCommandAnswerSchema,
      },
    },
  },
  {
    method: 'post',
    path: '/v1/all-agents/reactivate',
    tag: 'Agents',
    summary: 'Let agents run again after a stop of all',
    description: 'An agent that the kill switch or somebody stopped by itself stays stopped.',
    caller: 'command',
    answers: {
      200: { description: 'Done, or a note.', schema: agentCommandAnswerSchema, example: { status: 'ok' } },
    },
  },
  {
    method: 'get',
    path: '/v1/incidents',
    tag: 'Agents',
    summary: 'List incidents of the kill switch',
    description: 'Newest first, with their evidence; texts are redacted and cut.',
    caller: 'observe',
    query: incidentsQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.incidents } },
  },
  {
    method: 'get',
    path: '/v1/incidents/{incident_id}',
    tag: 'Agents',
    summary: 'Look at one incident',
    caller: 'observe',
    params: z.object({ incident_id: id }),
    readsStore: true,
    answers: { 200: { description: 'The incident.', schema: incidentSchema } },
    errors: ['incident_not_found'],
  },
  {
    method: 'get',
    path: '/v1/semantic-loops',
    tag: 'Agents',
    summary: 'List semantic loops',
    description:
      'Newest first: each prompt that asked again, in other words or the same, what its session had asked before. Both prompts are redacted and cut. `similarity` is 1 - cosine_distance / 2, 0..1.',
    caller: 'observe',
    query: loopsQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.semanticLoops } },
  },
  {
    method: 'get',
    path: '/v1/calls',
    tag: 'Calls',
    summary: 'List proxied LLM calls',
    description: 'Newest first. A call holds no prompt, no answer and no key.',
    caller: 'observe',
    query: callsQuery,
    readsStore: true,
    answers: { 200: { description: 'One page.', schema: pages.calls } },
  },
  {
    method: 'get',
    path: '/v1/calls/{call_id}',
    tag: 'Calls',
    summary: 'Look at one call',
    description: 'The id is in the header x-observatory-call of its answer.',
    caller: 'observe',
    params: z.object({ call_id: id }),
    readsStore: true,
    answers: { 200: { description: 'The call.', schema: llmCallSchema } },
    errors: ['call_not_found'],
  },
  {
    method: 'get',
    path: '/v1/held-calls',
    tag: 'Calls',
    summary: 'List calls that wait for an operator',
    description: 'Longest held first.',
    caller: 'observe',
    query: heldQuery,
    answers: { 200: { description: 'Those that hang right now.', schema: lists.heldCalls } },
  },
  {
    method: 'get',
    path: '/v1/spend',
    tag: 'Calls',
    summary: 'Sum up what was spent',
    description:
      'By agent, model, day or hour; calls of unknown cost are counted apart. Default: the last 30 days. UTC hours are summed up whole, those of `from_ms` and `to_ms` among them. What a call costs is kept to a millionth of a dollar, to the nearest: one that costs less than half of that counts as free.',
    caller: 'observe',
    query: spendQuery,
    readsStore: true,
    answers: { 200: { description: 'At most 1,000 lines.', schema: lists.spend } },
  },
  {
    method: 'get',
    path: '/v1/prices',
    tag: 'Configuration',
    summary: 'Read the price table',
    caller: 'observe',
    answers: { 200: { description: 'USD for a million tokens, by model.', schema: priceTableSchema } },
  },
  {
    method: 'put',
    path: '/v1/prices',
    tag: 'Configuration',
    summary: 'Replace the price table',
    description:
      'Send the version you edited; if somebody else was faster, version_conflict. One that changes nothing makes no new version.',
    caller: 'configure',
    body: {
      content: { 'application/json': priceTablePutSchema },
      example: {
        version: 0,
        models: [
          { model: 'gpt-4o', input_usd: 2.5, output_usd: 10, cached_input_usd: 1.25, cache_write_usd: null },
        ],
      },
    },
    answers: { 200: { description: 'The table as it is now.', schema: priceTableSchema } },
    errors: ['version_conflict'],
  },
  {
    method: 'get',
    path: '/v1/upstreams',
    tag: 'Configuration',
    summary: 'List where the proxy sends calls',
    caller: 'observe',
    answers: { 200: { description: 'By name; keys are never given out.', schema: lists.upstreams } },
  },
  {
    method: 'put',
    path: '/v1/upstreams/{name}',
    tag: 'Configuration',
    summary: 'Add or change an upstream',
    description:
      'What is left out stays as it is; a new one needs a base URL. The key is sealed at rest. It does not follow a base URL that moves to another host. One that changes nothing writes nothing.',
    caller: 'configure',
    params: upstreamParams,
    body: {
      content: { 'application/json': upstreamPutSchema },
      example: { base_url: 'https://llm.example.org/v1', kind: 'openai', api_key: 'sk-...' },
    },
    answers: { 200: { description: 'The upstream.', schema: upstreamSchema } },
    errors: ['upstream_not_found'],
  },
  {
    method: 'delete',
    path: '/v1/upstreams/{name}',
    tag: 'Configuration',
    summary: 'Remove an upstream',
    caller: 'configure',
    params: upstreamParams,
    answers: { 204: { description: 'Gone; a default of that name is back.' } },
    errors: ['upstream_not_found'],
  },
];
