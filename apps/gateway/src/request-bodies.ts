/**
 * Bodies of the API's own routes. Fastify reads and parses them ahead of the guard: so who is not known may send little, and
 * what is small in bytes but large to whatever walks over it is not parsed.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LIMITS, ObservatoryError } from '#contracts';
import { parseJsonBytes } from '#kernel';
import { AGENT_KEY_HEADER, operatorCall } from './auth/access.guard.js';
import type { Authenticator } from './auth/authenticator.js';
import { requireWithin } from './json-bounds.js';

/** The largest table of prices there may be has half of these values. */
const JSON_BOUNDS = {
  depthMax: LIMITS.jsonDepthMax,
  valuesMax: LIMITS.apiJsonValuesMax,
  namesMax: LIMITS.jsonNamesMax,
};

/** Where people become known: whoever calls there may send as much as a stranger. */
const PUBLIC_PATHS = '/v1/auth/';

const COMPRESSED = 'Send the body without content-encoding; DecisionLogs alone may be compressed.';

type Callers = Pick<Authenticator, 'operator' | 'agent'>;

/** To be called before the routes are there. */
export function boundBodies(fastify: FastifyInstance, callers: Callers): void {
  fastify.addHook('onRoute', (route) => {
    if (route.url.startsWith(PUBLIC_PATHS)) route.bodyLimit = LIMITS.strangerBodyBytesMax;
  });
  fastify.addHook('onRequest', (request, _reply, done) => {
    const isBounded = (request.routeOptions.bodyLimit ?? 0) <= LIMITS.strangerBodyBytesMax;
    done(isBounded || isSmall(request) ? undefined : (refusalOfStranger(request, callers) ?? undefined));
  });
  // Fastify's own hands over a text: whoever forgot to name the type was told that JSON is no object.
  fastify.removeContentTypeParser('text/plain');
  fastify.addContentTypeParser('text/plain', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, {});
    else done(new ObservatoryError('unsupported_media_type'));
  });
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, ({ headers }, body, done) => {
    try {
      done(null, parse(body as Buffer, headers['content-encoding']));
    } catch (error) {
      done(error as ObservatoryError);
    }
  });
}

/** Of what comes in chunks nobody knows how much it is. */
const isSmall = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined &&
  Number(headers['content-length'] ?? 0) <= LIMITS.strangerBodyBytesMax;

/** What the guard will say too, once it is asked. */
function refusalOfStranger(request: FastifyRequest, callers: Callers): ObservatoryError | null {
  const outcome = callers.operator(operatorCall(request));
  if (outcome.ok) return null;
  const key = request.headers[AGENT_KEY_HEADER];
  const isAgent =
    callers.agent(request.headers.authorization, typeof key === 'string' ? key : undefined) !== null;
  return isAgent ? null : new ObservatoryError(outcome.code, outcome.detail);
}

/** An empty body is an empty object: a command without arguments needs none. */
function parse(body: Buffer, encoding = 'identity'): unknown {
  if (body.length === 0) return {};
  if (encoding !== 'identity') throw new ObservatoryError('unsupported_media_type', COMPRESSED);
  // What stands in its place would be kept as the name, the reason or the key that was sent.
  if (!isUtf8(body)) throw new ObservatoryError('invalid_json', 'The body is not valid UTF-8.');
  requireWithin(body, JSON_BOUNDS);
  try {
    return parseJsonBytes(body);
  } catch {
    throw new ObservatoryError('invalid_json');
  }
}
