/** A channel as it is kept: what may be shown in the clear, and its whole configuration sealed, URLs included. */
import { z } from 'zod';
import {
  type AlertChannelBody,
  alertChannelBodySchema,
  alertChannelSchema,
  type SecretBox,
} from '#contracts';

/** Why nothing can be sent to it. */
export const CHANNEL_GONE = 'the channel was removed';
export const SEALED_WITH_ANOTHER_KEY =
  "the channel's settings were sealed with another key than this gateway has; save the channel again";

export const channelRecordSchema = alertChannelSchema.omit({ circuit: true }).extend({ sealed: z.string() });
export type ChannelRecord = z.infer<typeof channelRecordSchema>;

const TARGET_CHARS_MAX = 200;

/** Where it goes, for people: a path or a query may be the secret itself. */
function targetOf(body: AlertChannelBody): string {
  if (body.kind === 'email') return body.to.join(', ').slice(0, TARGET_CHARS_MAX);
  const { origin, pathname, search } = new URL(body.url);
  return pathname === '/' && search === '' ? origin : `${origin}/...`;
}

const hasSecret = (body: AlertChannelBody): boolean =>
  body.kind === 'slack' || (body.kind === 'webhook' ? body.secret : body.smtp_password) !== undefined;

export function sealChannel(
  box: SecretBox,
  body: AlertChannelBody,
  kept: Pick<ChannelRecord, 'channel_id' | 'created_at_ms' | 'updated_by'>,
): ChannelRecord {
  return {
    ...kept,
    kind: body.kind,
    name: body.name,
    target: targetOf(body),
    has_secret: hasSecret(body),
    allow_private: body.allow_private,
    sealed: box.seal(JSON.stringify(body)),
  };
}

/** Null when it was sealed with another key, or is no channel. Never throws. */
export function openChannel(box: SecretBox, record: ChannelRecord): AlertChannelBody | null {
  try {
    // Its name was taken when it was given, and what is asked of one today may be more.
    const named = { ...JSON.parse(box.open(record.sealed)), name: record.kind };
    const body = alertChannelBodySchema.safeParse(named).data;
    return body === undefined ? null : { ...body, name: record.name };
  } catch {
    return null;
  }
}
