/** What a call costs: what the vendor says that it charged, or the price of its model, its service tier and what it takes: text, sound or pictures. */
import type { ModelPrice } from '#contracts';
import { costMicroUsd, usageParts } from '#domain/policy';
import type { ProxyCall } from '../proxy-call.js';
import type { PriceBook } from './price-book.js';
import type { Used } from './used-by-call.js';

type Prices = Pick<PriceBook, 'price'>;

/**
 * Micro-USD; null: the model has no price, or what was used. A vendor that says it charged nothing is believed where there is no
 * price that says otherwise.
 */
export function costOf(prices: Prices, call: ProxyCall, { usage, paid }: Used): number | null {
  if (paid === 'nothing') return 0;
  if (paid === 'unknown') return null;
  const { charged_usd } = usage;
  if (charged_usd) return Math.round(charged_usd * 1e6);
  let cost = 0;
  for (const part of usageParts(usage)) {
    const price = priceOf(prices, call, lineOf(call, part.name));
    if (price === null) return charged_usd ?? null;
    cost += costMicroUsd(price, part.usage, usage.input_tokens);
  }
  return cost;
}

/** The same at the rate of text in the standard tier. */
export function standardCostOf(prices: Prices, call: ProxyCall, { usage, paid }: Used): number | null {
  const price = paid === 'by_token' ? priceOf(prices, call, '') : null;
  return price === null ? null : costMicroUsd(price, usage);
}

/** What came back names the model most exactly. */
const priceOf = (prices: Prices, call: ProxyCall, line: string): ModelPrice | null =>
  prices.price(call.tenantId, call.answer?.model ?? null, line) ??
  prices.price(call.tenantId, call.model, line);

/** What stands in brackets behind the model's name: its tier, and what it is that it takes. */
const lineOf = ({ answer }: ProxyCall, part: string): string =>
  [answer?.service_tier ?? '', part].filter((word) => word !== '').join(' ');

/** Why nobody knows what it cost. @param cost null: nobody does */
export function noteUnpriced(call: ProxyCall, cost: number | null): void {
  const { service_tier: tier, usage } = call.answer ?? {};
  if (cost !== null) return;
  const names = usage ? usageParts(usage).map(({ name }) => name) : [''];
  const lines = names.map((name) => lineOf(call, name)).filter((line) => line !== '');
  if (lines.length === 0) return;
  const what =
    tier === undefined ? 'Took tokens of sound or pictures' : `Answered in the service tier ${tier}`;
  call.detail ??= `${what}: its price is that of the model with ${lines.map((line) => `[${line}]`).join(', and with ')} behind its name.`;
}
