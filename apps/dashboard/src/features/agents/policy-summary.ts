/** An agent's policy in a line of the list, without the budgets, which stand beside what is spent of them. Pure. */
import {
  CACHE_POLICY_DEFAULT,
  NO_LIMITS,
  SEMANTIC_LOOP_POLICY_DEFAULT,
  UNKNOWN_COST_POLICY_DEFAULT,
} from '#contracts';
import { formatCount, formatTokens, formatUsd, plural } from '../../ui/format';
import { describeHours, type EditablePolicy } from './policy-form';

const UNSET = {
  ...NO_LIMITS,
  unknown_cost: UNKNOWN_COST_POLICY_DEFAULT,
  semantic_loop: SEMANTIC_LOOP_POLICY_DEFAULT,
  cache: CACHE_POLICY_DEFAULT,
};

/** "" where nothing but budgets is set. */
export function policySummary(policy: EditablePolicy): string {
  const whole = { ...UNSET, ...policy };
  const { requests_per_minute, tokens_per_minute, allowed_hours } = whole;
  const { allowed_models, unknown_cost, semantic_loop, cache } = whole;
  const { session_calls_max, session_cost_usd_max, session_minutes_max } = whole;
  const perSession = [
    session_calls_max !== null && plural(session_calls_max, 'call'),
    session_cost_usd_max !== null && formatUsd(session_cost_usd_max),
    session_minutes_max !== null && `${formatCount(session_minutes_max)} min`,
  ].filter((part) => part !== false);
  const parts = [
    requests_per_minute !== null && `${plural(requests_per_minute, 'call')}/min`,
    tokens_per_minute !== null && `${formatTokens(tokens_per_minute)} tokens/min`,
    perSession.length > 0 && `a session ${perSession.join(', ')}`,
    allowed_hours !== null && describeHours(allowed_hours),
    allowed_models !== null && modelsInShort(allowed_models),
    unknown_cost !== UNKNOWN_COST_POLICY_DEFAULT && 'no unknown cost',
    semantic_loop !== SEMANTIC_LOOP_POLICY_DEFAULT && `semantic loop: ${semantic_loop}`,
    cache !== CACHE_POLICY_DEFAULT && `cache: ${cache.replaceAll('_', ' ')}`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}

const modelsInShort = ([first, ...others]: readonly string[]): string =>
  others.length === 0 ? `${first} only` : `${first} and ${plural(others.length, 'other model')} only`;
