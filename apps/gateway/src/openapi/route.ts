/** How a route is described: the vocabulary of the table in routes.ts. */
import type { z } from 'zod';
import type { ErrorCode, Permission } from '#contracts';

/** Who may call a route, in words of its documentation. */
export type Caller = 'anybody' | 'agent' | 'loopback_or_observe' | Permission | `agent_or_${Permission}`;

export interface Body {
  /** Media type -> schema registered in schemas.ts; null: text without a schema. */
  content: Record<string, z.ZodType | null>;
  example: unknown;
}

export interface Answer {
  description: string;
  /** Registered in schemas.ts. */
  schema?: z.ZodType;
  /** Other than application/json: text of this media type. */
  mediaType?: string;
  example?: unknown;
}

export interface Route {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{names}` for what varies. */
  path: string;
  tag: Tag;
  summary: string;
  /** Sentences on what the summary does not say; plain text. */
  description?: string;
  caller: Caller;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: Body;
  /** It looks into the store each time, which has a bound on looks that wait. */
  readsStore?: true;
  /** By status. */
  answers: Record<number, Answer>;
  /** Beside those that follow from `caller` and `body`. */
  errors?: readonly ErrorCode[];
}

/** What Nest answers of the API. Not the ingest route, which is read ahead of it, nor probes and pages. */
export const refusesUnknownParameters = ({ path, tag }: Route): boolean =>
  path.startsWith('/v1/') && tag !== 'Ingest';

export const TAGS = {
  Ingest: 'What agents send.',
  Sessions: 'What agents did, step by step.',
  Control: 'Stop an agent for real, look, let it go on, guide it or end it.',
  Agents: 'What agents may do and spend through the proxy, and the kill switch that stops them.',
  Calls: 'What went through the proxy, and what it cost.',
  Cache: 'Answers that are not paid for twice, and whether they were right.',
  Alerts: 'When people are told of something, where, and whether it arrived.',
  Audit: 'Who did what, append-only and hash-chained.',
  Configuration: 'Settings that take effect on the next message.',
  Access: 'Logins, agent keys, operators, tenants.',
  Operation: 'For supervisors, and this documentation.',
} as const;
export type Tag = keyof typeof TAGS;
