/**
 * What a batch of calls adds to the hourly sums, one line per tenant, hour, agent and model: many calls, few upserts.
 * Pure. About 2 us a call.
 */
import type { CallRow, LlmCall } from '#contracts';
import { isCostUnknown } from '#contracts/store';
import { HOUR_MS } from '#kernel';
import type { Primitive } from '../wire.js';
import { NANO_USD_PER_USD } from './proxy-protocol.js';

/**
 * Beyond anything a call can use or cost: what an upstream with broken figures claims must not make the sums
 * overflow. The call itself keeps the claim.
 */
const CALL_TOKENS_MAX = 1e9;
const CALL_COST_USD_MAX = 10_000;

interface SpendSum {
  tenantId: string;
  hourMs: number;
  agentId: string;
  model: string;
  callCount: number;
  unpricedCount: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  costNanoUsd: number;
}

export const hourOf = (atMs: number): number => Math.floor(atMs / HOUR_MS) * HOUR_MS;

/** @returns `spendWidth` values a line, in the order of SPEND_COLUMNS */
export function spendSums(rows: readonly CallRow[]): Primitive[] {
  const sums = new Map<string, SpendSum>();
  const sumAt = (atMs: number, { tenant_id, call }: CallRow): SpendSum => {
    const hourMs = hourOf(atMs);
    const model = call.model ?? '';
    // The lengths keep ids apart that only differ in where one ends and the next begins.
    const key = `${hourMs}:${tenant_id.length}:${call.agent_id.length}:${tenant_id}${call.agent_id}${model}`;
    let sum = sums.get(key);
    if (sum === undefined) {
      sum = emptySum(tenant_id, hourMs, call.agent_id, model);
      sums.set(key, sum);
    }
    return sum;
  };
  for (const row of rows) {
    const { call, spent_at_ms = call.started_at_ms } = row;
    add(sumAt(call.started_at_ms, row), call);
    if (call.cost_usd !== null) sumAt(spent_at_ms, row).costNanoUsd += boundedCost(call.cost_usd);
  }
  const values: Primitive[] = [];
  for (const sum of sums.values()) {
    values.push(
      sum.tenantId,
      sum.hourMs,
      sum.agentId,
      sum.model,
      sum.callCount,
      sum.unpricedCount,
      sum.inputTokens,
      sum.cachedInputTokens,
      sum.outputTokens,
      sum.reasoningTokens,
      sum.costNanoUsd,
    );
  }
  return values;
}

function add(sum: SpendSum, call: LlmCall): void {
  const { usage } = call;
  sum.callCount += 1;
  if (isCostUnknown(call)) sum.unpricedCount += 1;
  if (usage === null) return;
  sum.inputTokens += bounded(usage.input_tokens, CALL_TOKENS_MAX);
  sum.cachedInputTokens += bounded(usage.cached_input_tokens, CALL_TOKENS_MAX);
  sum.outputTokens += bounded(usage.output_tokens, CALL_TOKENS_MAX);
  sum.reasoningTokens += bounded(usage.reasoning_tokens, CALL_TOKENS_MAX);
}

/** Whole nano-USD; below 0 what is taken back of an estimate. */
const boundedCost = (usd: number): number =>
  Math.sign(usd) * bounded(Math.abs(usd) * NANO_USD_PER_USD, CALL_COST_USD_MAX * NANO_USD_PER_USD) || 0;

/** A whole number from 0 to `max`; 0 for what is no number. */
const bounded = (value: number, max: number): number => (value > 0 ? Math.min(Math.round(value), max) : 0);

const emptySum = (tenantId: string, hourMs: number, agentId: string, model: string): SpendSum => ({
  tenantId,
  hourMs,
  agentId,
  model,
  callCount: 0,
  unpricedCount: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costNanoUsd: 0,
});
