/**
 * The OpenAPI 3.1 document: made from the route table and the schemas that also validate, so that it cannot say
 * something else than the server does.
 */
import { z } from 'zod';
import { ERRORS, type ErrorCode, HEADERS, SESSION_COOKIE } from '#contracts';
import { type Answer, type Body, type Caller, type Route, refusesUnknownParameters, TAGS } from './route.js';
import { ROUTES } from './routes.js';
import { errorSchema, SCHEMAS } from './schemas.js';

export type Json = Record<string, unknown>;

export interface OpenApiDocument {
  openapi: '3.1.1';
  info: Json;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Json>>;
  components: { schemas: Record<string, Json>; securitySchemes: Record<string, Json> };
}

const names = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]));

/** Reference to a schema of schemas.ts. @throws Error for one that is not there: a mistake in the route table */
function refTo(schema: z.ZodType): Json {
  const name = names.get(schema);
  if (name === undefined) throw new Error('a route names a schema that schemas.ts lacks');
  return { $ref: `#/components/schemas/${name}` };
}

/** @param options.serverUrl origin under which the gateway is reached */
export function buildOpenApi({
  serverUrl,
  version,
}: {
  serverUrl: string;
  version: string;
}): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(route) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Observatory',
      version,
      summary: 'Real-time observability and control for AI agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: describeSchemas(), securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES: Record<string, Json> = {
  agentKey: { type: 'http', scheme: 'bearer', description: 'An agent key, obs_agent_...' },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    description: `An operator token, obs_op_.... Whatever changes something also takes ${HEADERS.operatorId}; one that may act for several tenants names its in ${HEADERS.tenant}.`,
  },
  login: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Set by POST /v1/auth/login.' },
};

const OPERATOR: Json[] = [{ operatorToken: [] }, { login: [] }];

function securityOf(caller: Caller): Json[] {
  if (caller === 'anybody') return [];
  if (caller === 'agent') return [{ agentKey: [] }];
  if (caller === 'loopback_or_observe') return [{}, ...OPERATOR];
  return caller.startsWith('agent_or_') ? [{ agentKey: [] }, ...OPERATOR] : OPERATOR;
}

/** True for routes on which an operator with a token must name itself. */
const takesOperatorId = (route: Route): boolean =>
  route.method !== 'get' && securityOf(route.caller).some((one) => 'operatorToken' in one);

function describeRoute(route: Route): Json {
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    security: securityOf(route.caller),
    'x-caller': route.caller,
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(takesOperatorId(route) ? [OPERATOR_ID_PARAMETER] : []),
    ],
    ...(route.body ? { requestBody: describeBody(route.body) } : {}),
    responses: { ...describeErrors(route), ...describeAnswers(route.answers) },
  };
}

/** Such as `post_v1_sessions_session_id_pause`. */
const operationId = ({ method, path }: Route): string =>
  `${method}${path.replace(/[^a-z0-9]+/gi, '_').replace(/_$/, '')}`;

const OPERATOR_ID_PARAMETER: Json = {
  name: 'X-Observatory-Operator-Id',
  in: 'header',
  required: false,
  description: 'Who you are, for the audit. Required with a token; a login knows it.',
  schema: { type: 'string', minLength: 1, maxLength: 100 },
};

function parametersOf(object: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (object === undefined) return [];
  const { properties = {} } = inlineSchema(object) as { properties?: Record<string, Json> };
  return Object.entries(object.shape).map(([name, field]) => {
    const { description, ...described } = properties[name] ?? {};
    const absent = (field as z.ZodType).safeParse(undefined);
    // zod leaves out the default of a field that it reads by a function first.
    const schema = absent.data === undefined ? described : { ...described, default: absent.data };
    const isRequired = place === 'path' || !absent.success;
    return { name, in: place, required: isRequired, ...(description ? { description } : {}), schema };
  });
}

function describeBody({ content, example }: Body): Json {
  const described: Record<string, { schema: Json; example?: unknown }> = {};
  for (const [type, schema] of Object.entries(content)) {
    const mediaType = type.split(';', 1)[0] as string;
    const shape =
      schema === null ? { type: 'string', description: 'One JSON object per line.' } : refTo(schema);
    const before = described[mediaType];
    if (before !== undefined) before.schema = { oneOf: [before.schema, shape] };
    else
      described[mediaType] = {
        schema: shape,
        example: schema === null ? `${JSON.stringify(example)}\n` : example,
      };
  }
  // An empty body is read as an empty object.
  const isRequired = !content['application/json']?.safeParse({}).success;
  return { required: isRequired, content: described };
}

function describeAnswers(answers: Route['answers']): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer)]),
  );
}

function describeAnswer({ description, schema, mediaType, example }: Answer): Json {
  if (schema === undefined && mediaType === undefined) return { description };
  const shape = schema === undefined ? { type: 'string' } : refTo(schema);
  const content = { [mediaType ?? 'application/json']: { schema: shape, ...(example ? { example } : {}) } };
  return { description, content };
}

/** One response per status, with every code that may stand behind it. */
function describeErrors(route: Route): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(errorsOf(route))) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses: Record<string, Json> = {};
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    const [first] = codes as [ErrorCode, ...ErrorCode[]];
    const isTemporary = status === 429 || status === 503;
    responses[status] = {
      description: codes.map((code) => `${code}: ${ERRORS[code].text}`).join(' '),
      ...(isTemporary
        ? { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } } }
        : {}),
      content: {
        'application/json': {
          schema: refTo(errorSchema),
          example: { status: 'error', reason: first, detail: ERRORS[first].text },
        },
      },
    };
  }
  return responses;
}

const isPaged = ({ query }: Route): boolean => query !== undefined && 'cursor' in query.shape;

function errorsOf(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = [...(route.errors ?? [])];
  if (route.readsStore) codes.push('store_busy');
  // Each leaves an entry in the audit.
  if (takesOperatorId(route)) codes.push('store_busy', 'store_full', 'answer_late');
  // Read before anybody asks whether the route takes one.
  if (route.method !== 'get') codes.push('invalid_json', 'payload_too_large', 'unsupported_media_type');
  if (refusesUnknownParameters(route)) codes.push('invalid_fields');
  if (route.params || isPaged(route)) codes.push('invalid_request');
  if (route.caller !== 'anybody') codes.push('unauthorized');
  if (takesOperatorId(route)) codes.push('missing_operator_id', 'origin_refused');
  if (route.caller !== 'anybody' && route.caller !== 'agent') codes.push('forbidden');
  return codes;
}

function inlineSchema(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', override: withPatterns }) as Json;
  return json;
}

/** What zod asks of a text and has no word for in a document: of one that is trimmed more than blanks, of a URL its scheme. */
function withPatterns({ zodSchema, jsonSchema }: Parameters<Override>[0]): void {
  const { def } = zodSchema._zod as z.core.$ZodStringFormat['_zod'] | z.core.$ZodString['_zod'];
  if (def.type !== 'string') return;
  const isTrimmed = def.checks?.some((check) => check._zod.def.check === 'overwrite') ?? false;
  if (isTrimmed && jsonSchema.minLength) jsonSchema.allOf = [...(jsonSchema.allOf ?? []), { pattern: '\\S' }];
  if ('protocol' in def) jsonSchema.pattern = '^[Hh][Tt][Tt][Pp][Ss]?:';
}
type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

function describeSchemas(): Record<string, Json> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    io: 'input',
    override: withPatterns,
  });
  const described = Object.entries(schemas).map(([name, schema]) => {
    const { $schema: _, $id: __, ...json } = schema as Json;
    return [name, json] as const;
  });
  return Object.fromEntries(described);
}
