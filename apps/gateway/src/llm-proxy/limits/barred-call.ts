/** What its agent's policy, or that of all agents, does not let it ask for at all, however little it has used. */
import type { AgentPolicy } from '#contracts';
import { namedModels, plainModel } from '#domain/llm-dialects';
import { isOfAll, standForModel } from '#domain/policy';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { policyRefusal } from './policy-refusal.js';

/** Of the allowed ones, as a refusal names them. */
const TOLD_COUNT_MAX = 10;

/**
 * What costs nothing is asked for whatever the policy says: lists, counts, the end of a run.
 *
 * @param costMicroUsd as estimated; null: unknown
 */
export function barred(
  call: ProxyCall,
  policy: AgentPolicy,
  costMicroUsd: number | null,
): Verdict | undefined {
  if (call.unread?.takes === 'nothing') return undefined;
  const { allowed_models, unknown_cost } = policy;
  if (allowed_models !== null) {
    const named = modelsOf(call);
    const other = named.find((model) => !standForModel(allowed_models, model));
    if (other !== undefined || named.length === 0) return notAllowed(policy, other, allowed_models);
  }
  return costMicroUsd === null && unknown_cost === 'refuse' ? costUnknown(policy) : undefined;
}

function modelsOf(call: ProxyCall): readonly string[] {
  const named = call.unread?.named_models ?? namedModels(call.path, call.parsedBody());
  if (call.model === null) return named;
  const model = plainModel(call.model);
  return named.includes(model) ? named : [model, ...named];
}

function notAllowed(policy: AgentPolicy, model: string | undefined, allowed: readonly string[]): Verdict {
  const what =
    model === undefined
      ? 'This call names no model that can be read'
      : `${isOfAll(policy) ? 'No agent of this tenant may' : 'This agent may not'} use ${JSON.stringify(model.slice(0, 80))}`;
  const told = allowed.slice(0, TOLD_COUNT_MAX).join(', ');
  const more = allowed.length > TOLD_COUNT_MAX ? `, and ${allowed.length - TOLD_COUNT_MAX} more` : '';
  return policyRefusal(
    'not_allowed',
    'model_not_allowed',
    `${what}. Allowed: ${told}${more}; an operator can allow others.`,
    null,
  );
}

const costUnknown = (policy: AgentPolicy): Verdict =>
  policyRefusal(
    'not_allowed',
    'cost_unknown',
    `Nobody can tell beforehand what this call costs: its model has no price, or it is paid for otherwise than by the token of this request. The policy of ${isOfAll(policy) ? 'all agents' : 'this agent'} refuses such calls (unknown_cost); an operator can add a price or let them pass.`,
    null,
  );
