/** In which tier of its service a vendor answered: some cost more than the standard one, some less. */
import type { LlmAnswer } from '#contracts';
import { asText, type JsonRecord } from './read-json.js';

const STANDARD = new Set([
  '',
  'auto',
  'default',
  'standard',
  'on_demand',
  'unspecified',
  'traffic_type_unspecified',
]);
/** Several times what a vendor's name of one takes; what is longer is cut, and has no price. */
const TIER_CHARS_MAX = 64;

type Tier = Pick<LlmAnswer, 'service_tier'>;

/** As OpenAI names it, and those who speak its API. Nothing for the standard one, and where none is said. */
export function readTier(said: unknown): Tier {
  const tier = asText(said).toLowerCase();
  return STANDARD.has(tier) ? {} : { service_tier: tier.slice(0, TIER_CHARS_MAX) };
}

/** Where the answer was made: anywhere, or by a model that cannot be told where. */
const ANYWHERE = new Set(['', 'global', 'not_available']);

/** Anthropic's fast mode, and an answer that had to be made in one country, have a price like a tier, and are none. */
export function readMessageTier(usage: JsonRecord | undefined): Tier {
  const { service_tier: tier } = readTier(usage?.speed === 'fast' ? 'fast' : usage?.service_tier);
  const geo = asText(usage?.inference_geo).toLowerCase();
  return readTier(ANYWHERE.has(geo) ? tier : tier === undefined ? geo : `${tier} ${geo}`);
}

/** By the Gemini API, or by Vertex as a type of traffic. */
export const readGeminiTier = (usage: JsonRecord | undefined): Tier =>
  readTier(asText(usage?.serviceTier) || asText(usage?.trafficType).replace(/^ON_DEMAND_/, ''));
