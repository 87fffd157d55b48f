/**
 * Which models a request names, wherever it does: those that a policy allows must not be a way to one that it does not.
 * What a router may fall back to, and what a tool of the vendor's asks, counts like what the request is for.
 */
import { routedPath } from './path-match.js';
import { asJsonText, asList, asRecord } from './read-json.js';

/** Azure's deployments and the older engines stand where a model does, and the body's is not looked at there. */
const IN_PATH = /\/(?:models?|tunedmodels|deployments|engines)\/([^/:]+)/gi;

/** Each once, as it is written. @param path without its query @param body as parsed; anything else than an object names none */
export function namedModels(path: string, body: unknown): string[] {
  const { model, models, tools } = asRecord(body) ?? {};
  const inPath = [...routedPath(path).matchAll(IN_PATH)].map(([, name]) => name);
  const ofTools = asList(tools).map((tool) => asRecord(tool)?.model);
  const named = [...inPath, model, ...asList(models), ...ofTools];
  return [...new Set(named.filter((name) => name !== undefined && name !== null).map(asJsonText))];
}
