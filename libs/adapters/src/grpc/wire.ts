/** Between the messages of the wire and the words of the contracts. Pure; what does not fit is a SidecarFailure. */
import {
  type Cosine,
  type Embedding,
  type Fitness,
  type LoopAnswer,
  type LoopQuery,
  type LoopSimilarity,
  type SidecarDescription,
  SidecarFailure,
} from '#contracts/embedding';
import {
  type CheckLoopRequest,
  type CheckLoopResponse,
  type DescribeResponse,
  type EmbedResponse,
  type FitnessName,
  TEXT_BYTES_MAX,
} from './embedding-proto.js';

const FITNESS_NAMES = {
  fit: 'FIT',
  empty: 'EMPTY',
  unknown_tokens: 'UNKNOWN_TOKENS',
} as const satisfies Record<Fitness, FitnessName>;

const FLOAT_BYTES = 4;

/** @throws SidecarFailure `invalid` for a text beyond TEXT_BYTES_MAX; the length is cheap to see for most texts */
export function requireTextFits(text: string): void {
  // No character of UTF-16 takes more than three bytes.
  if (text.length * 3 <= TEXT_BYTES_MAX || Buffer.byteLength(text) <= TEXT_BYTES_MAX) return;
  throw new SidecarFailure('invalid', `a text may have ${TEXT_BYTES_MAX} bytes at most`);
}

export function toCheckLoopRequest(query: LoopQuery): CheckLoopRequest {
  const { threshold, ...request } = query;
  return { ...request, ...(threshold === null ? {} : { threshold }) };
}

export function toLoopQuery({ threshold, ...request }: CheckLoopRequest): LoopQuery {
  return {
    tenant_id: request.tenant_id,
    session_id: request.session_id,
    ...(request.agent_id ? { agent_id: request.agent_id } : {}),
    request_id: request.request_id,
    prompt: request.prompt,
    threshold: (threshold as LoopSimilarity | undefined) ?? null,
  };
}

export function toCheckLoopResponse(answer: LoopAnswer): CheckLoopResponse {
  return { ...answer, fitness: FITNESS_NAMES[answer.fitness], vetoed_by: answer.vetoed_by ?? '' };
}

export function toLoopAnswer(response: CheckLoopResponse): LoopAnswer {
  return {
    loop_detected: response.loop_detected,
    max_similarity: response.max_similarity as LoopSimilarity,
    threshold: response.threshold as LoopSimilarity,
    similar_prompt: response.similar_prompt,
    similar_request_id: response.similar_request_id,
    compared_count: response.compared_count,
    similar_count: response.similar_count,
    fitness: toFitness(response.fitness),
    vetoed_by: response.vetoed_by === '' ? null : response.vetoed_by,
    model_id: response.model_id,
    further: response.further,
  };
}

export function toEmbedResponse(embedding: Embedding & { model_id: string }): EmbedResponse {
  return {
    vector: embedding.vector === null ? new Uint8Array(0) : toBytes(embedding.vector),
    model_id: embedding.model_id,
    fitness: FITNESS_NAMES[embedding.fitness],
  };
}

/** @throws SidecarFailure `error` for a vector that is none */
export function toEmbedding(response: EmbedResponse): Embedding & { model_id: string } {
  const { model_id } = response;
  const fitness = toFitness(response.fitness);
  if (fitness !== 'fit') return { fitness, vector: null, model_id };
  const { length } = response.vector;
  if (length === 0 || length % FLOAT_BYTES !== 0)
    throw new SidecarFailure('error', 'the sidecar sent a vector that is none');
  return { fitness, vector: toVector(response.vector), model_id };
}

export function toDescribeResponse(description: SidecarDescription): DescribeResponse {
  const { hitWhenCosineAtLeast, needsStrictGate, loopWhenSimilarityAbove: _, ...rest } = description;
  return {
    ...rest,
    store_problem: description.store_problem ?? '',
    cache_cosine_threshold: hitWhenCosineAtLeast,
    strict_gate: needsStrictGate,
  };
}

/** `loopWhenSimilarityAbove` is the threshold in force: the wire has no other. */
export function toDescription(response: DescribeResponse): SidecarDescription {
  const { cache_cosine_threshold, strict_gate, store, loop_similarity_threshold, ...rest } = response;
  return {
    ...rest,
    store: store === 'redis' ? 'redis' : 'memory',
    // A sidecar of before says nothing of it.
    store_problem: response.store_problem === '' ? null : response.store_problem,
    loop_similarity_threshold: loop_similarity_threshold as LoopSimilarity,
    loopWhenSimilarityAbove: loop_similarity_threshold as LoopSimilarity,
    hitWhenCosineAtLeast: cache_cosine_threshold as Cosine,
    needsStrictGate: strict_gate,
  };
}

/** An unknown name comes from a newer sidecar: what it means we do not know, but not `fit`. */
const toFitness = (name: FitnessName): Fitness =>
  name === 'FIT' ? 'fit' : name === 'EMPTY' ? 'empty' : 'unknown_tokens';

function toBytes(vector: Float32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(vector.length * FLOAT_BYTES));
  for (let at = 0; at < vector.length; at += 1)
    bytes.setFloat32(at * FLOAT_BYTES, vector[at] as number, true);
  return new Uint8Array(bytes.buffer);
}

/** A copy: what came is a window into the connection's buffer, and not aligned. */
function toVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const vector = new Float32Array(bytes.byteLength / FLOAT_BYTES);
  for (let at = 0; at < vector.length; at += 1) vector[at] = view.getFloat32(at * FLOAT_BYTES, true);
  return vector;
}
