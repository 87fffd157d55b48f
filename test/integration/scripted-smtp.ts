/** A mail server at the wire: takes, refuses, falls silent or hangs up as a test says, and keeps what it took. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { SelfSigned } from './self-signed.js';

/**
 * `some`: it refuses the second recipient for good. `later`, `never`: each of them. `closed`: it says so in place of a greeting.
 * `bad`: the message. `hang up`: in the middle of the message, or, every other time, behind it. `hang`: behind it nothing is said.
 */
export const SMTP_MODES = ['take', 'some', 'later', 'never', 'closed', 'bad', 'hang up', 'hang'] as const;
export type SmtpMode = (typeof SMTP_MODES)[number];

export interface TakenMail {
  to: string[];
  isEncrypted: boolean;
  /** Names in lower case. */
  headers: Record<string, string>;
  text: string;
}

export interface ScriptedSmtp {
  port: number;
  /** In force for what a client says next. */
  mode: SmtpMode;
  onTaken: (mail: TakenMail) => void;
  /** Of those that it leaves without a word. */
  hangUp(): void;
  close(): void;
}

/** @param tls STARTTLS is offered on every other connection; null: on none */
export async function startScriptedSmtp(tls: SelfSigned | null): Promise<ScriptedSmtp> {
  const sockets = new Set<Socket>();
  const hung = new Set<Socket>();
  let connectionCount = 0;
  let cutCount = 0;
  const smtp: ScriptedSmtp = {
    port: 0,
    mode: 'take',
    onTaken: () => {},
    hangUp: () => {
      for (const socket of hung) socket.destroy();
      hung.clear();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };

  function converse(socket: Socket, offersTls: boolean, isEncrypted: boolean): void {
    let to: string[] = [];
    let read = '';
    let isInMessage = false;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const greet = () => {
      if (offersTls) socket.write('250-scripted\r\n');
      say(offersTls ? '250 STARTTLS' : '250 scripted');
    };
    const addRecipient = (line: string) => {
      const isSecond = to.length > 0;
      if (smtp.mode === 'later') return say('450 later');
      if (smtp.mode === 'never' || (smtp.mode === 'some' && isSecond)) return say('550 no such person');
      to.push(/<(.*)>/.exec(line)?.[1] ?? '');
      return say('250 ok');
    };
    const endMessage = (message: string) => {
      if (smtp.mode === 'hang') return void hung.add(socket);
      if (smtp.mode === 'hang up') return void socket.destroy();
      if (smtp.mode === 'bad') return say('554 not this');
      smtp.onTaken({ to, isEncrypted, ...parsed(message) });
      return say('250 taken');
    };
    const obey = (line: string) => {
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') greet();
      else if (verb === 'STAR') {
        say('220 go');
        socket.removeAllListeners('data');
        const { key, cert } = tls as SelfSigned;
        const secureContext = createSecureContext({ key, cert });
        converse(keep(new TLSSocket(socket, { isServer: true, secureContext })), false, true);
      } else if (verb === 'MAIL') {
        to = [];
        say('250 ok');
      } else if (verb === 'RCPT') addRecipient(line);
      else if (verb === 'DATA') {
        isInMessage = true;
        say('354 go on');
        if (smtp.mode !== 'hang up' || cutCount++ % 2 > 0) return;
        socket.removeAllListeners('data');
        socket.once('data', () => socket.destroy());
      } else if (verb === 'QUIT') socket.end('221 bye\r\n');
      else say('250 ok');
    };
    socket.on('data', (bytes) => {
      read += bytes;
      for (;;) {
        const end = isInMessage ? '\r\n.\r\n' : '\r\n';
        const at = read.indexOf(end);
        if (at < 0 || socket.destroyed) return;
        const piece = read.slice(0, at);
        read = read.slice(at + end.length);
        if (isInMessage) {
          isInMessage = false;
          endMessage(piece);
        } else obey(piece);
      }
    });
  }

  function keep<Kind extends Socket>(socket: Kind): Kind {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }

  const server = createServer((socket) => {
    keep(socket);
    if (smtp.mode === 'closed') return void socket.end('421 come back later\r\n');
    connectionCount += 1;
    socket.write('220 scripted\r\n');
    return converse(socket, tls !== null && connectionCount % 2 === 0, false);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  smtp.port = (server.address() as AddressInfo).port;
  return smtp;
}

/** As one was written, of one part: long lines are whole again, and what was escaped is itself. */
function parsed(message: string): Pick<TakenMail, 'headers' | 'text'> {
  const at = message.indexOf('\r\n\r\n');
  const lines = message
    .slice(0, at)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
      const words = value.replace(/\?= =\?UTF-8\?Q\?/g, '');
      const plain = words.replace(/=\?UTF-8\?Q\?(.*?)\?=/g, (_, word) =>
        unescaped(word.replaceAll('_', ' ')),
      );
      return [name.toLowerCase(), plain];
    }),
  );
  const body = message.slice(at + 4).replace(/^\.\./gm, '.');
  const isEscaped = headers['content-transfer-encoding'] === 'quoted-printable';
  return { headers, text: isEscaped ? unescaped(body) : body };
}

/** Of quoted-printable. */
function unescaped(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
