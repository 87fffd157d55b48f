/** Who may do what. Denied unless a role grants it here. */
import { z } from 'zod';
import { AGENT_ID, AGENT_ID_WORDS } from './decision-log.js';
import { LIMITS } from './limits.js';

export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export const PERMISSIONS = [
  /** Read sessions, steps, alerts, topology, audit; subscribe to live topics. */
  'observe',
  /** Pause, resume, inject, rewrite, terminate; send a sample loop. */
  'command',
  /** Change runtime configuration. */
  'configure',
  /** Create, list, revoke agent keys and operators. */
  'manage_access',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  viewer: ['observe'],
  operator: ['observe', 'command'],
  admin: ['observe', 'command', 'configure', 'manage_access'],
};

export const mayRole = (role: Role, permission: Permission): boolean =>
  ROLE_PERMISSIONS[role].includes(permission);

export const DEFAULT_TENANT = 'default';
/** Id of the agent key, and of the operator token, that the environment sets: each start registers them anew, revoked or not. */
export const ENVIRONMENT_ID = 'env';
/** In an operator's tenant list: every tenant. */
export const ALL_TENANTS = '*';

export const tenantIdSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,62}$/,
    'lower-case letters, digits, - and _, at most 63, starting with a letter or digit',
  );

/**
 * Names people type: an operator id, the name of a key, of an alert rule. Without what ends lines, turns what stands beside it
 * about, or, half a pair, becomes another character in the store and is no text to many who are sent it.
 */
export const displayNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(
    /^[^\p{Cc}\p{Bidi_Control}\p{Surrogate}]*$/u,
    'a name without control characters, marks of direction and halves of characters',
  );

/** An authenticated operator, acting for one tenant in this request. */
export interface OperatorPrincipal {
  kind: 'operator';
  operator_id: string;
  role: Role;
  tenant_id: string;
  /** Tenants it may switch to; ['*'] for all. */
  tenant_ids: readonly string[];
  /** False once the token or login behind this request has ended: asked again of whoever has waited. */
  isInForce(): boolean;
}

/** An authenticated agent key. */
export interface AgentPrincipal {
  kind: 'agent';
  key_id: string;
  key_name: string;
  tenant_id: string;
  /** Agents that it may speak for, of which calls that name none have the first for theirs; null: any. */
  agent_ids: readonly string[] | null;
}

/** Whether it may send steps, and make calls, of that agent. */
export const maySpeakFor = ({ agent_ids }: Pick<AgentPrincipal, 'agent_ids'>, agentId: string): boolean =>
  agent_ids === null || agent_ids.includes(agentId);

export const loginBodySchema = z.strictObject({
  token: z.string().min(1).max(LIMITS.idCharsMax),
  /** Shown to other operators and written to the audit. */
  operator_id: displayNameSchema,
});

/** `GET /v1/auth/me`, and the answer to a login. */
export const meSchema = z.object({
  operator_id: z.string(),
  role: z.enum(ROLES),
  tenant_id: z.string(),
  tenant_ids: z.array(z.string()),
  permissions: z.array(z.enum(PERMISSIONS)),
});
export type Me = z.infer<typeof meSchema>;

export const agentKeySchema = z.object({
  key_id: z.string(),
  tenant_id: z.string(),
  /** Tenants that its proxied calls may name in `x-tenant-id`, its own among them; absent: its own only. */
  tenant_ids: z.array(z.string()).optional(),
  /** Agents that it may speak for; absent: any. */
  agent_ids: z.array(z.string()).optional(),
  name: z.string(),
  /** First characters of the key, to tell keys apart. */
  prefix: z.string(),
  created_at_ms: z.number().int(),
  created_by: z.string(),
  last_used_at_ms: z.number().int().nullable(),
  revoked_at_ms: z.number().int().nullable(),
});
export type AgentKey = z.infer<typeof agentKeySchema>;

export const createAgentKeyBodySchema = z.strictObject({
  /** Calls that name no agent have it for their agent's id. */
  name: displayNameSchema.regex(AGENT_ID, `it is also the id of agents that name none: ${AGENT_ID_WORDS}`),
  tenant_id: tenantIdSchema.optional(),
  /** Further tenants, for a platform that calls for many. */
  tenant_ids: z.array(tenantIdSchema).min(1).max(100).optional(),
  /** It may speak for these agents alone; calls that name none are the first one's. */
  agent_ids: z
    .array(z.string().min(1).max(LIMITS.idCharsMax).regex(AGENT_ID, AGENT_ID_WORDS))
    .min(1)
    .max(100)
    .optional(),
});
/** The secret is in this answer and nowhere else, ever. */
export const createdAgentKeySchema = z.object({ key: agentKeySchema, secret: z.string() });

export const operatorTokenSchema = z.object({
  token_id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  tenant_ids: z.array(z.string()),
  prefix: z.string(),
  created_at_ms: z.number().int(),
  created_by: z.string(),
  last_used_at_ms: z.number().int().nullable(),
  revoked_at_ms: z.number().int().nullable(),
});
export type OperatorToken = z.infer<typeof operatorTokenSchema>;

export const createOperatorBodySchema = z.strictObject({
  name: displayNameSchema,
  role: z.enum(ROLES),
  tenant_ids: z
    .array(z.union([tenantIdSchema, z.literal(ALL_TENANTS)]))
    .min(1)
    .max(100)
    .optional(),
});
export const createdOperatorSchema = z.object({ operator: operatorTokenSchema, secret: z.string() });

export const HEADERS = {
  operatorId: 'x-observatory-operator-id',
  /**
   * Which tenant an operator with several acts for; absent: its first, or `default`. On a proxied call: which one an
   * agent key for several acts for; absent: its own.
   */
  tenant: 'x-tenant-id',
  /** Agent key, where `Authorization` carries the vendor's. */
  agentKey: 'x-observatory-key',
  agent: 'x-observatory-agent',
  session: 'x-observatory-session',
  /** On a proxied answer: what the gateway decided. */
  decision: 'x-observatory-decision',
  /** On a proxied answer: its call id. */
  call: 'x-observatory-call',
  /** On a request: a `CacheControl`. On its answer: `miss`, `exact` or `semantic`. */
  cache: 'x-observatory-cache',
  /** On an answer from the cache: seconds since it was stored, and for a semantic match its cosine. */
  cacheAge: 'x-observatory-cache-age',
  cacheCosine: 'x-observatory-cache-cosine',
} as const;
export const SESSION_COOKIE = 'observatory_session';
