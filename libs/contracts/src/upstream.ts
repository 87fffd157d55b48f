/** Where the proxy sends calls. */
import { z } from 'zod';

export const UPSTREAM_KINDS = ['openai', 'anthropic', 'gemini'] as const;
/** Whose API it speaks: decides dialects, the header its key travels in, and the shape of our own answers. */
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

export const upstreamNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and -, at most 63');

export const upstreamSchema = z.object({
  name: upstreamNameSchema,
  kind: z.enum(UPSTREAM_KINDS),
  /** With its version path, as the vendor's SDK takes it. */
  base_url: z.string(),
  /** `ours`: a key kept here is put in; `caller`: the caller's own key passes through. */
  key: z.enum(['ours', 'caller']),
  /** `environment` wins over `settings` wins over `default`. */
  source: z.enum(['environment', 'settings', 'default']),
});
export type Upstream = z.infer<typeof upstreamSchema>;

/**
 * `PUT /v1/upstreams/{name}`. What is absent stays; a new one needs a `base_url`. `api_key`: null removes it. It is encrypted at rest
 * and never given out.
 */
export const upstreamPutSchema = z.strictObject({
  base_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  kind: z.enum(UPSTREAM_KINDS).optional(),
  api_key: z
    .string()
    .trim()
    .min(1)
    .max(4_096)
    // What a header can carry, so that a slip in pasting is told here and not by every call.
    .regex(/^[\x21-\x7e]*$/, 'printable ASCII without spaces')
    .nullable()
    .optional(),
});
