/** Which line of a price table is a model's. The rule is ModelPrice.model's. */
import type { ModelPrice, PriceTable } from '#contracts';

/** Model names answered from memory per table; clients choose them freely. Beyond it all are forgotten. */
const REMEMBERED_MODELS_MAX = 10_000;
/** Longer names are looked up each time; no vendor has one. */
const REMEMBERED_CHARS_MAX = 200;

/** `-2026-01-31`, `-20260131`, `-001`, `-latest`. */
const VERSION_SUFFIX = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3}|latest)$/;

interface PriceIndex {
  byName: Map<string, ModelPrice>;
  /** Prefixes of names with a trailing `*`, longest first. */
  byPrefix: { prefix: string; price: ModelPrice }[];
  remembered: Map<string, ModelPrice | null>;
}

const indexes = new WeakMap<PriceTable, PriceIndex>();

/**
 * Hot path; null: no price, so the cost is unknown. A name that stands there twice: its first line. A table is never
 * changed in place: an edited one is a new object, and gets a new index.
 */
export function findPrice(table: PriceTable, model: string): ModelPrice | null {
  let index = indexes.get(table);
  if (index === undefined) {
    index = buildIndex(table);
    indexes.set(table, index);
  }
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

function buildIndex({ models }: PriceTable): PriceIndex {
  const byName = new Map<string, ModelPrice>();
  const byPrefix: PriceIndex['byPrefix'] = [];
  for (const price of models) {
    if (price.model.endsWith('*')) byPrefix.push({ prefix: price.model.slice(0, -1), price });
    else if (!byName.has(price.model)) byName.set(price.model, price);
  }
  byPrefix.sort((a, b) => b.prefix.length - a.prefix.length);
  return { byName, byPrefix, remembered: new Map() };
}

/** The longest name that matches; of two as long, the one without a `*`. */
function match({ byName, byPrefix }: PriceIndex, model: string): ModelPrice | null {
  const whole = byName.get(model);
  if (whole !== undefined) return whole;
  const base = model.replace(VERSION_SUFFIX, '');
  const named = base === model ? undefined : byName.get(base);
  const prefixed = byPrefix.find(({ prefix }) => model.startsWith(prefix));
  if (named === undefined) return prefixed?.price ?? null;
  return prefixed !== undefined && prefixed.prefix.length > base.length ? prefixed.price : named;
}
