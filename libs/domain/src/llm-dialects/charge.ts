/** What a vendor says that an answer cost, beside its tokens: then nobody has to reckon it from a list of prices. */
import { asRecord, type JsonRecord } from './read-json.js';

/** xAI's unit. */
const TICKS_PER_USD = 1e10;
/** More than an answer costs: a sum beyond it is a mistake, and would use up any budget. */
const CHARGE_USD_MAX = 10_000;

/**
 * Of an answer's `usage`: xAI's `cost_in_usd_ticks`, Perplexity's `cost.total_cost`, OpenRouter's `cost`. OpenRouter leaves out what
 * goes to another vendor by the caller's own key there (`is_byok`), which it tells apart.
 * @returns USD; undefined: it does not say, or not all
 */
export function readCharge(usage: JsonRecord): number | undefined {
  const { cost, cost_in_usd_ticks: ticks } = usage;
  if (typeof ticks === 'number') return asUsd(ticks / TICKS_PER_USD);
  const sums = asRecord(cost);
  if (sums !== undefined) return (sums.currency ?? 'USD') === 'USD' ? asUsd(sums.total_cost) : undefined;
  const charged = asUsd(cost);
  if (charged === undefined || usage.is_byok !== true) return charged;
  const elsewhere = asUsd(asRecord(usage.cost_details)?.upstream_inference_cost);
  return elsewhere === undefined ? undefined : charged + elsewhere;
}

const asUsd = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= CHARGE_USD_MAX ? value : undefined;
