/** A data folder that is put back from an older copy, under pages that stay open: what they know is of a future that never was. */
import { cpSync } from 'node:fs';
import { io, type Socket } from 'socket.io-client';
import { expect, onTestFinished, test } from 'vitest';
import { type Frame, type SubscribeAck, TOPICS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { makeDataDir, type RunningGateway, startGateway } from './start-gateway.js';

const COUNT = 5;

const ingest = async (gateway: RunningGateway, world: string): Promise<void> => {
  for (let at = 0; at < COUNT; at += 1) {
    const session_id = `${world}-${at}`;
    await gateway.ingest(buildDecisionLog({ meta: { trace_id: session_id, session_id } } as never));
  }
};

const connect = (gateway: RunningGateway): Socket => {
  const socket: Socket = io(`${gateway.url}/live`, {
    auth: { token: gateway.operatorToken },
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
  });
  onTestFinished(() => void socket.disconnect());
  return socket;
};
const subscribe = (socket: Socket, after_seq?: number): Promise<SubscribeAck<any, any>> =>
  socket.emitWithAck('subscribe', { topic: TOPICS.sessions, after_seq });

test.each(['an older copy of its folder', 'an empty folder'])(
  'who comes back to a gateway with %s begins anew, and does not take its events for what follows the old ones',
  async (folder) => {
    const first = await startGateway();
    await first.stop();
    const dataDir = makeDataDir();
    if (folder === 'an older copy of its folder') cpSync(first.dataDir, dataDir, { recursive: true });

    const isEmpty = folder === 'an empty folder';
    const before = await startGateway(isEmpty ? {} : { dataDir: first.dataDir });
    const page = connect(before);
    let knownSeq = 0;
    page.on('frame', ({ to_seq }: Frame) => {
      knownSeq = to_seq;
    });
    const ack = (await subscribe(page)) as { seq: number };
    await ingest(before, 'lost');
    await expect.poll(() => knownSeq).toBe(ack.seq + COUNT);
    await before.kill();

    const after = await startGateway({ dataDir });
    const other = connect(after);
    await subscribe(other);
    const heard: Frame[] = [];
    other.on('frame', (frame: Frame) => heard.push(frame));
    await ingest(after, 'another');
    await ingest(after, 'more');
    await expect.poll(() => heard.flatMap(({ events }) => events).length).toBe(2 * COUNT);
    expect(await subscribe(connect(after), knownSeq)).toMatchObject({ kind: 'reset' });
    await after.stop();
  },
);
