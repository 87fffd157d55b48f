/** Which line of a price table is a model's. The rule is ModelPrice.model's. */
import type { ModelPrice, PriceTable } from '#contracts';
import { withoutVersion } from './model-names.js';

/** Model names answered from memory per table; clients choose them freely. Beyond it all are forgotten. */
const REMEMBERED_MODELS_MAX = 10_000;
/** Longer names are looked up each time; no vendor has one. */
const REMEMBERED_CHARS_MAX = 200;

/** Of a line of a service tier's own: `gpt-5 [flex]`. */
const TIER_SUFFIX = /\s*\[([^[\]]+)\]$/;

interface PriceIndex {
  byName: Map<string, ModelPrice>;
  /** Prefixes of names with a trailing `*`, longest first. */
  byPrefix: { prefix: string; price: ModelPrice }[];
  remembered: Map<string, ModelPrice | null>;
}

/** By tier, lower case; "" for the standard one. */
const indexes = new WeakMap<PriceTable, Map<string, PriceIndex>>();

/**
 * Hot path; null: no price, so the cost is unknown. A name that stands there twice: its first line. A table is never
 * changed in place: an edited one is a new object, and gets a new index.
 * @param tier as `LlmAnswer.service_tier`: lines of it alone are looked at
 */
export function findPrice(table: PriceTable, model: string, tier = ''): ModelPrice | null {
  let byTier = indexes.get(table);
  if (byTier === undefined) {
    byTier = buildIndexes(table);
    indexes.set(table, byTier);
  }
  const index = byTier.get(tier);
  if (index === undefined) return null;
  const { remembered } = index;
  const known = remembered.get(model);
  if (known !== undefined) return known;
  const price = match(index, model);
  if (model.length <= REMEMBERED_CHARS_MAX) {
    if (remembered.size >= REMEMBERED_MODELS_MAX) remembered.clear();
    remembered.set(model, price);
  }
  return price;
}

function buildIndexes({ models }: PriceTable): Map<string, PriceIndex> {
  const byTier = new Map<string, PriceIndex>();
  for (const price of models) {
    const tier = TIER_SUFFIX.exec(price.model)?.[1]?.toLowerCase() ?? '';
    const name = price.model.replace(TIER_SUFFIX, '');
    const index: PriceIndex = byTier.get(tier) ?? { byName: new Map(), byPrefix: [], remembered: new Map() };
    byTier.set(tier, index);
    if (name.endsWith('*')) index.byPrefix.push({ prefix: name.slice(0, -1), price });
    else if (!index.byName.has(name)) index.byName.set(name, price);
  }
  for (const { byPrefix } of byTier.values()) byPrefix.sort((a, b) => b.prefix.length - a.prefix.length);
  return byTier;
}

/** The longest name that matches; of two as long, the one without a `*`. */
function match({ byName, byPrefix }: PriceIndex, model: string): ModelPrice | null {
  const whole = byName.get(model);
  if (whole !== undefined) return whole;
  const base = withoutVersion(model);
  const named = base === model ? undefined : byName.get(base);
  const prefixed = byPrefix.find(({ prefix }) => model.startsWith(prefix));
  if (named === undefined) return prefixed?.price ?? null;
  return prefixed !== undefined && prefixed.prefix.length > base.length ? prefixed.price : named;
}
