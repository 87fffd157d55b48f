/** A notice on its way through one channel: signed, shaped and handed to the technology that carries it. */
import type { SmtpSender } from '#adapters/smtp';
import type { WebhookSender } from '#adapters/webhook';
import type { AlertChannelBody, AlertNotice } from '#contracts';
import { mailOf, type SendOutcome, SIGNATURE_HEADER, signBody, slackBody } from '#domain/alerts';
import type { Clock } from '#kernel';

/** The same for every attempt of one delivery: a receiver that has seen it may drop it. */
const DELIVERY_HEADER = 'x-observatory-delivery';

export class ChannelSender {
  constructor(
    private readonly webhook: Pick<WebhookSender, 'send'>,
    private readonly smtp: Pick<SmtpSender, 'send'>,
    private readonly clock: Clock,
  ) {}

  /** Never rejects. */
  send(channel: AlertChannelBody, notice: AlertNotice, deliveryId: string): Promise<SendOutcome> {
    const allowPrivate = channel.allow_private;
    if (channel.kind === 'email') {
      return this.smtp.send({
        host: channel.smtp_host,
        port: channel.smtp_port,
        tls: channel.smtp_tls,
        user: channel.smtp_user ?? null,
        password: channel.smtp_password ?? null,
        from: channel.from,
        to: channel.to,
        mail: mailOf(notice),
        deliveryId,
        allowPrivate,
      });
    }
    const body = JSON.stringify(channel.kind === 'slack' ? slackBody(notice) : notice);
    const headers: Record<string, string> = {
      'user-agent': 'Observatory',
      'idempotency-key': deliveryId,
      [DELIVERY_HEADER]: deliveryId,
    };
    if (channel.kind === 'webhook' && channel.secret !== undefined)
      headers[SIGNATURE_HEADER] = signBody(channel.secret, body, this.clock.nowMs());
    return this.webhook.send({ url: channel.url, body, headers, allowPrivate });
  }
}
