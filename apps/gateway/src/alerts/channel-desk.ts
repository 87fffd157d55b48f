/**
 * Channels as operators see and change them: of their tenant only, audited, secrets going in and not coming out. A
 * password is never sent to another server than the one it was given for.
 */
import { isIP } from 'node:net';
import {
  type AlertChannel,
  type AlertChannelBody,
  type AlertChannelPatch,
  alertChannelBodySchema,
  type ChannelTest,
  ObservatoryError,
  type OperatorPrincipal,
  type SecretBox,
} from '#contracts';
import { isPublicAddress, type SendOutcome, testNotice } from '#domain/alerts';
import {
  bareAddress,
  type ChangeQueue,
  type Clock,
  changesOf,
  type IdSource,
  isMetadataAddress,
} from '#kernel';
import type { SettingsAudit } from '../auth/settings-audit.js';
import { parseFields } from '../errors/field-errors.js';
import { FairShare } from '../fair-share.js';
import type { AlertDocuments } from './alert-documents.js';
import { type ChannelRecord, openChannel, SEALED_WITH_ANOTHER_KEY, sealChannel } from './channel-record.js';
import type { ChannelSender } from './channel-sender.js';
import type { DeliveryQueue } from './delivery-queue.js';

const CHANNELS_PER_TENANT_MAX = 100;
/** Tests under way at once, of one tenant half of them. */
const TESTS_RUNNING_MAX = 8;
const SIGNING_SECRET_BYTES = 32;

export interface ChannelDeskParts {
  documents: AlertDocuments;
  audit: SettingsAudit;
  /** By tenant. */
  changes: ChangeQueue<string>;
  box: SecretBox;
  queue: Pick<DeliveryQueue, 'circuit' | 'wakeChannel'>;
  sender: Pick<ChannelSender, 'send'>;
  clock: Clock;
  ids: IdSource;
  publicUrl: string | null;
  /** A channel that is gone was taken out of the rules of this tenant. */
  rulesChanged(tenantId: string): void;
}

export class ChannelDesk {
  readonly #parts: ChannelDeskParts;
  readonly #tests = new FairShare({ max: TESTS_RUNNING_MAX, onFull: () => {} });

  constructor(parts: ChannelDeskParts) {
    this.#parts = parts;
  }

  /** Oldest first. */
  list(tenantId: string): AlertChannel[] {
    return this.#parts.documents.channels(tenantId).map((record) => this.#shown(record));
  }

  /** A webhook without a secret is given one, which is in this answer and nowhere else. */
  create(
    by: OperatorPrincipal,
    given: AlertChannelBody,
  ): Promise<{ channel: AlertChannel; secret: string | null }> {
    const { documents, clock, ids, changes } = this.#parts;
    return changes.run(by.tenant_id, async () => {
      if (documents.channels(by.tenant_id).length >= CHANNELS_PER_TENANT_MAX) {
        const detail = `There are ${CHANNELS_PER_TENANT_MAX} channels already; remove some first.`;
        throw new ObservatoryError('invalid_fields', detail);
      }
      requirePlainUrl(given);
      requirePermitted(given);
      const isUnsigned = given.kind === 'webhook' && given.secret === undefined;
      const secret = isUnsigned ? `obs_sign_${ids.next(SIGNING_SECRET_BYTES)}` : null;
      const body = given.kind === 'webhook' && secret !== null ? { ...given, secret } : given;
      const kept = { channel_id: `chn_${ids.next()}`, created_at_ms: clock.nowMs() };
      const channel = await this.#save(by, 'alert_channel.create', body, kept);
      return { channel, secret };
    });
  }

  /**
   * Changes what is given, keeps what is not, takes away what is null; the kind stays. A change of nothing writes nothing, and
   * wakes nothing.
   * @throws ObservatoryError alert_channel_not_found, invalid_fields
   */
  update(by: OperatorPrincipal, channelId: string, patch: AlertChannelPatch): Promise<AlertChannel> {
    const { changes, queue, box } = this.#parts;
    return changes.run(by.tenant_id, async () => {
      const record = this.#required(by.tenant_id, channelId);
      if (patch.kind !== undefined && patch.kind !== record.kind) {
        const detail = `kind: this channel is of the kind ${record.kind}; create another for ${patch.kind}.`;
        throw new ObservatoryError('invalid_fields', detail, { fields: ['kind'] });
      }
      const current = openChannel(box, record);
      requirePassword(current, patch);
      const merged = Object.entries({ ...current, ...patch, kind: record.kind });
      const body = parseFields(
        alertChannelBodySchema,
        Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined)),
      );
      requirePlainUrl(body);
      requirePermitted(body);
      const changed = Object.keys(changesOf(patch, current ?? {}));
      if (changed.length === 0) return this.#shown(record);
      const channel = await this.#save(by, 'alert_channel.update', body, record, changed);
      queue.wakeChannel(channelId);
      return channel;
    });
  }

  /** Takes it out of every rule too; what waits for it is dead. @throws ObservatoryError alert_channel_not_found */
  remove(by: OperatorPrincipal, channelId: string): Promise<void> {
    const { documents, audit, changes, queue, rulesChanged } = this.#parts;
    return changes.run(by.tenant_id, async () => {
      const { name, kind } = this.#required(by.tenant_id, channelId);
      const detail = { channel_id: channelId, name, kind };
      const draft = audit.draft(by, by.tenant_id, 'alert_channel.delete', detail);
      await documents.deleteChannel(by.tenant_id, channelId, draft);
      rulesChanged(by.tenant_id);
      queue.wakeChannel(channelId);
    });
  }

  /**
   * Sends a notice now, past the queue, and says how it went.
   * @throws ObservatoryError alert_channel_not_found; rate_limited while many tests are under way; as the store does, and then
   * nothing was sent
   */
  async test(by: OperatorPrincipal, channelId: string): Promise<ChannelTest> {
    const { name } = this.#required(by.tenant_id, channelId);
    if (!this.#tests.take(by.tenant_id, 1)) throw new ObservatoryError('rate_limited');
    try {
      return await this.#parts.audit.around(
        [by, by.tenant_id, 'alert_channel.test', { channel_id: channelId, name }],
        // As it is by then: it may have been changed or removed while this was written.
        async () => this.#sendTest(by, this.#required(by.tenant_id, channelId)),
        ({ status }) => ({ ok: status === 'ok' }),
      );
    } finally {
      this.#tests.giveBack(by.tenant_id, 1);
    }
  }

  async #sendTest(by: OperatorPrincipal, record: ChannelRecord): Promise<ChannelTest> {
    const { box, sender, queue, clock, ids, publicUrl } = this.#parts;
    const startedSteadyMs = clock.steadyMs();
    const notice = testNotice({
      noticeId: `ntc_${ids.next()}`,
      publicUrl,
      tenantId: by.tenant_id,
      channelName: record.name,
      by: by.operator_id,
      atMs: clock.nowMs(),
    });
    const channel = openChannel(box, record);
    const outcome: SendOutcome =
      channel === null
        ? { ok: false, retryable: false, reason: SEALED_WITH_ANOTHER_KEY, retryAfterMs: null }
        : await sender.send(channel, notice, `dlv_${ids.next()}`);
    if (outcome.ok) queue.wakeChannel(record.channel_id);
    return {
      status: outcome.ok && outcome.shortfall === undefined ? 'ok' : 'failed',
      detail: testDetail(outcome),
      duration_ms: Math.round(clock.steadyMs() - startedSteadyMs),
    };
  }

  async #save(
    by: OperatorPrincipal,
    action: string,
    body: AlertChannelBody,
    kept: Pick<ChannelRecord, 'channel_id' | 'created_at_ms'>,
    fields?: string[],
  ): Promise<AlertChannel> {
    const { documents, audit, box } = this.#parts;
    const { channel_id, created_at_ms } = kept;
    const record = sealChannel(box, body, { channel_id, created_at_ms, updated_by: by.operator_id });
    const { name, kind, allow_private } = record;
    const detail = { channel_id, name, kind, allow_private, ...(fields === undefined ? {} : { fields }) };
    await documents.saveChannel(by.tenant_id, record, audit.draft(by, by.tenant_id, action, detail));
    return this.#shown(record);
  }

  #required(tenantId: string, channelId: string): ChannelRecord {
    const record = this.#parts.documents.channel(tenantId, channelId);
    if (record === undefined) throw new ObservatoryError('alert_channel_not_found');
    return record;
  }

  #shown({ sealed: _, ...shown }: ChannelRecord): AlertChannel {
    return { ...shown, circuit: this.#parts.queue.circuit(shown.channel_id) };
  }
}

function testDetail(outcome: SendOutcome): string {
  if (!outcome.ok) return `Not delivered: ${outcome.reason}.`;
  const { shortfall } = outcome;
  return shortfall === undefined ? 'The receiver took it.' : `Delivered in part: ${shortfall}.`;
}

function requirePlainUrl(body: AlertChannelBody): void {
  if (body.kind === 'email') return;
  const { username, password } = new URL(body.url);
  if (username === '' && password === '') return;
  const detail = 'url: a user or password in the address is not sent; a webhook is signed instead.';
  throw new ObservatoryError('invalid_fields', detail, { fields: ['url'] });
}

/** A name is looked up at each delivery, and may lead elsewhere by then; an address to which none can go is told at once. */
function requirePermitted(body: AlertChannelBody): void {
  const [field, host] =
    body.kind === 'email' ? ['smtp_host', body.smtp_host] : ['url', new URL(body.url).hostname];
  const address = bareAddress(host);
  if (isIP(address) === 0) return;
  if (body.allow_private ? !isMetadataAddress(address) : isPublicAddress(address)) return;
  const detail = body.allow_private
    ? `${field}: ${address} is link-local or a metadata service, which no channel may reach.`
    : `${field}: ${address} is private, loopback, link-local or reserved; set allow_private if that is meant.`;
  throw new ObservatoryError('invalid_fields', detail, { fields: [field] });
}

/** Whoever may change a channel may not have its password sent to a server of their own. */
function requirePassword(current: AlertChannelBody | null, patch: AlertChannelPatch): void {
  if (current?.kind !== 'email' || current.smtp_password === undefined || 'smtp_password' in patch) return;
  const moved = (['smtp_host', 'smtp_port', 'smtp_tls'] as const).filter(
    (field) => patch[field] !== undefined && patch[field] !== current[field],
  );
  if (moved.length === 0) return;
  const detail = `smtp_password: give it again, because ${moved.join(' and ')} changed.`;
  throw new ObservatoryError('invalid_fields', detail, { fields: ['smtp_password'] });
}
