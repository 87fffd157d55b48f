/** On Vertex AI model and method are in the path: `…/publishers/anthropic/models/{model}:rawPredict`, or `:streamRawPredict`. */
import { routedPath } from '../path-match.js';

const VERTEX = /\/publishers\/anthropic\/models\/([^/:]+):(?:rawPredict|streamRawPredict)$/;
/** Stands where a model does, and counts. */
const COUNT = 'count-tokens';

/** Null: another path. @param path a query is ignored */
export function vertexModel(path: string): string | null {
  const model = VERTEX.exec(routedPath(path.split('?', 1)[0] ?? ''))?.[1] ?? null;
  return model === COUNT ? null : model;
}
