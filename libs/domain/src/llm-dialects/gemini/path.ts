/** Model and method are in the path: `/v1beta/models/{model}:{method}`. */
import { routedPath } from '../path-match.js';

const METHODS = /:(generateContent|streamGenerateContent)$/;

export interface GeminiPath {
  model: string | null;
  stream: boolean;
}

/** Null for any other method. @param path a query is ignored */
export function readGeminiPath(path: string): GeminiPath | null {
  const plain = routedPath(path.split('?', 1)[0] ?? '');
  const method = METHODS.exec(plain);
  if (!method) return null;
  const resource = plain.slice(0, method.index);
  const models = resource.lastIndexOf('/models/');
  const model = models === -1 ? resource.slice(resource.lastIndexOf('/') + 1) : resource.slice(models + 8);
  return { model: model === '' ? null : model, stream: method[1] === 'streamGenerateContent' };
}

/** Events were asked for, not a JSON array. */
export function isSseQuery(query: string | undefined): boolean {
  const parameters = new URLSearchParams(query ?? '');
  return (parameters.get('alt') ?? parameters.get('$alt')) === 'sse';
}
