/**
 * Which models a request names, wherever it does: those that a policy allows must not be a way to one that it does not.
 * What a vendor or a router may fall back to, and what a tool or plugin of theirs asks, counts like what the request is for.
 */
import { field } from './gemini/fields.js';
import { routedPath } from './path-match.js';
import { asJsonText, asList, asRecord, type JsonRecord } from './read-json.js';

/** Azure's deployments and the older engines stand where a model does, and the body's is not looked at there. */
const IN_PATH = /\/(?:models?|tunedmodels|deployments|engines)\/([^/:]+)/gi;
/** `model`, OpenRouter's `models` and `analysis_models`, Anthropic's `fallbacks`, LiteLLM's `context_window_fallbacks`. */
const NAMES_MODELS = /(?:^|_)(?:models?|fallbacks?)$/;

/** Google's whole name of a model, in front of what everybody else calls it. */
const WHOLE_NAME = /^(?:(?:projects|publishers)\/.+\/)?models\//;

export const plainModel = (name: string): string => name.replace(WHOLE_NAME, '');

/** Each once, as it is written but for `plainModel`. @param path without its query @param body as parsed; anything else than an object names none */
export function namedModels(path: string, body: unknown): string[] {
  const inPath = [...routedPath(path).matchAll(IN_PATH)].map(([, name]) => name as string);
  const inBody = placesIn(asRecord(body) ?? {}).flatMap((place) => namesIn(asRecord(place) ?? {}));
  return [...new Set([...inPath, ...inBody.map(plainModel)])];
}

/** Where vendors and routers look for a model: nowhere in what is said to one, nor in what the caller's own tools take. */
const placesIn = (request: JsonRecord): unknown[] => [
  request,
  ...asList(request.tools).flatMap((tool) => [tool, asRecord(tool)?.parameters]),
  ...asList(request.plugins),
  ...Object.values(asRecord(request.providerOptions) ?? {}),
  { model: routedTo(request) },
];

/** On Vertex AI, whatever the path names. */
function routedTo(request: JsonRecord): unknown {
  const config = asRecord(field(request, 'generationConfig', 'generation_config'));
  const routing = asRecord(field(config, 'routingConfig', 'routing_config'));
  return field(asRecord(field(routing, 'manualMode', 'manual_mode')), 'modelName', 'model_name');
}

const namesIn = (place: JsonRecord): string[] =>
  Object.entries(place).flatMap(([name, value]) => (NAMES_MODELS.test(name) ? namesOf(value) : []));

/** What is no name is taken for one, so that nobody can allow it. */
function namesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesOf);
  const names = namesIn(asRecord(value) ?? {});
  return names.length > 0 ? names : [asJsonText(value)];
}
