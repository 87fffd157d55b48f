/** Whom alerts are told in a model: a webhook, a Slack-compatible server and a mail server, each of which does what a mode says. */
import type { ServerResponse } from 'node:http';
import { type Answer, startReceiver, status } from '../http-receiver.js';
import { type SmtpMode, startScriptedSmtp, type TakenMail } from '../scripted-smtp.js';
import type { SelfSigned } from '../self-signed.js';

type Json = Record<string, any>;

/** What comes of a delivery by it. */
export type State = 'delivered' | 'pending' | 'dead';
export const BECOMES = {
  take: 'delivered',
  some: 'delivered',
  fail: 'pending',
  rest: 'pending',
  'hang up': 'pending',
  hang: 'pending',
  gone: 'dead',
  bad: 'dead',
} as const satisfies Record<string, State>;
export type Mode = keyof typeof BECOMES;
export const MODES = Object.keys(BECOMES) as Mode[];
const SMTP: Record<Mode, SmtpMode> = {
  take: 'take',
  some: 'some',
  fail: 'later',
  rest: 'closed',
  'hang up': 'hang up',
  hang: 'hang',
  gone: 'never',
  bad: 'bad',
};

const MAIL_TO = ['one@example.org', 'two@example.org'];

export interface Told {
  deliveryId: string;
  /** It says everything that is to be known of the notice, and nothing that is not so. */
  isOf(notice: Json, lastError: string | null): boolean;
}

export interface AlertReceiver {
  /** Of its channel. */
  body: Json;
  /** What was begun by another one ends at once. */
  setMode(mode: Mode): void;
  /** Tests of a channel are left out. */
  onTaken: (told: Told) => void;
  close(): void;
}

export const startAlertReceivers = async (tls: SelfSigned | null): Promise<AlertReceiver[]> => [
  await startHttp('webhook', (body) => {
    const said = JSON.parse(body) as Json;
    const isOf = (notice: Json) => JSON.stringify(sorted(said)) === JSON.stringify(sorted(notice));
    return { isTest: said.phase === 'test', isOf };
  }),
  await startHttp('slack', (body) => {
    const { text } = JSON.parse(body) as Json;
    return { isTest: isTestText(text), isOf: (notice) => isTextOf(text.replaceAll('\u200b', ''), notice) };
  }),
  await startMail(tls),
];

const sorted = (json: Json): unknown => Object.entries(json).sort(([one], [other]) => (one < other ? -1 : 1));
const isTestText = (text: string): boolean => text.includes('Test of the alert channel');
const isTextOf = (text: string, notice: Json): boolean =>
  [notice.title, notice.text, notice.rule_name, notice.tenant_id, new Date(notice.at_ms).toISOString()].every(
    (one) => text.includes(one),
  );

type Read = (body: string) => { isTest: boolean; isOf(notice: Json): boolean };

async function startHttp(kind: 'webhook' | 'slack', read: Read): Promise<AlertReceiver> {
  const server = await startReceiver();
  const hung = new Set<ServerResponse>();
  const answers: Record<Mode, Answer> = {
    take: status(200),
    some: status(200),
    fail: status(500),
    rest: status(503, { 'retry-after': '3600' }),
    gone: status(410),
    bad: status(400),
    'hang up': (_, response) => void response.destroy(),
    hang: (_, response) => void hung.add(response),
  };
  let mode: Mode = 'take';
  server.answer = (received, response) => {
    const { isTest, isOf } = read(received.body);
    const deliveryId = String(received.headers['x-observatory-delivery']);
    if (!isTest && BECOMES[mode] === 'delivered') receiver.onTaken({ deliveryId, isOf });
    answers[mode](received, response);
  };
  const receiver: AlertReceiver = {
    body: { kind, name: `on call ${kind}`, url: server.url, allow_private: true },
    setMode: (now) => {
      mode = now;
      for (const response of hung) response.destroy();
      hung.clear();
    },
    onTaken: () => {},
    close: () => void server.close(),
  };
  return receiver;
}

async function startMail(tls: SelfSigned | null): Promise<AlertReceiver> {
  const smtp = await startScriptedSmtp(tls);
  const receiver: AlertReceiver = {
    body: {
      ...{ kind: 'email', name: 'on call email', allow_private: true },
      ...{ to: MAIL_TO, from: 'observatory@example.org', smtp_host: 'localhost', smtp_port: smtp.port },
    },
    setMode: (now) => {
      smtp.mode = SMTP[now];
      smtp.hangUp();
    },
    onTaken: () => {},
    close: () => smtp.close(),
  };
  smtp.onTaken = ({ to, headers, text }: TakenMail) => {
    const { subject = '', 'message-id': messageId = '', 'x-observatory-delivery': deliveryId = '' } = headers;
    if (isTestText(text)) return;
    const isOf = (notice: Json, lastError: string | null) =>
      messageId === `<${deliveryId}@observatory.invalid>` &&
      subject === `[Observatory] ${notice.title}` &&
      isTextOf(text, notice) &&
      headers['auto-submitted'] === 'auto-generated' &&
      MAIL_TO.every((one) => to.includes(one) !== (lastError?.includes(one) ?? false));
    receiver.onTaken({ deliveryId, isOf });
  };
  return receiver;
}
