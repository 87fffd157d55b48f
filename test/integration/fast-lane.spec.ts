/** The way of plain requests around Node's HTTP server, and back to it: nobody may notice on which of the two he was. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { startGateway } from './start-gateway.js';
import { gateway, startOneGateway } from './start-one-gateway.js';

startOneGateway();

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A connection, and what has come on it so far. */
async function open(url = gateway.url) {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let came = '';
  socket.setEncoding('latin1').on('data', (text) => (came += text));
  await once(socket, 'connect');
  /** So many answers, from the first on. */
  const answers = async (count: number): Promise<string[]> => {
    await expect.poll(() => came.split('HTTP/1.1 ').length - 1, { timeout: 10_000 }).toBe(count);
    await expect.poll(() => came.endsWith('}') || came.endsWith('\n')).toBe(true);
    return came.split('HTTP/1.1 ').slice(1);
  };
  return { socket, answers };
}

let serial = 0;

function bodyOf(): string {
  serial += 1;
  return JSON.stringify(buildDecisionLog({ meta: { trace_id: `lane-${serial}`, session_id: 'lane' } }));
}

function post(body = bodyOf(), lines: readonly string[] = []): string {
  const head = [
    'POST /v1/decision-logs HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${gateway.agentKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...lines,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const GET = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const statuses = (answers: readonly string[]) => answers.map((answer) => answer.slice(0, 3));
/** Names of an answer's headers, as they came; and their values but for the time and the length. */
const headersOf = (answer: string) =>
  Object.fromEntries(
    (answer.split('\r\n\r\n')[0] as string)
      .split('\r\n')
      .slice(1)
      .map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ])
      .filter(([name]) => name !== 'date' && name !== 'content-length'),
  );

test('what is no request is refused in the words of the catalogue, on a new connection and behind a request', async () => {
  const { socket, answers } = await open();
  socket.write('NONSENSE\r\n\r\n');
  const later = await open();
  later.socket.write(post());
  await later.answers(1);
  later.socket.write('NONSENSE\r\n\r\n');
  for (const answer of [(await answers(1))[0], (await later.answers(2))[1]]) {
    expect(answer).toMatch(/^400 /);
    expect(JSON.parse(answer?.split('\r\n\r\n')[1] as string)).toMatchObject({ reason: 'invalid_request' });
  }
});
const datedMs = (answer: string) => new Date(/Date: (.*)/i.exec(answer)?.[1] ?? '').getTime();

test('an answer looks the same on both ways', async () => {
  const { socket, answers } = await open();
  socket.write(post());
  await answers(1);
  // The same, but for a header that the lane leaves to Node.
  socket.write(post(bodyOf(), ['TE: trailers']));
  const [lane = '', node = ''] = await answers(2);
  expect(statuses([lane, node])).toEqual(['202', '202']);
  expect(headersOf(lane)).toEqual(headersOf(node));
  expect(datedMs(lane)).toBeGreaterThan(Date.now() - 60_000);
});

test('an answer is dated when it is given, however many went before it', async () => {
  const { socket, answers } = await open();
  socket.write(post());
  const [earlier = ''] = await answers(1);
  await sleep(datedMs(earlier) + 2_000 - Date.now());
  socket.write(post());
  const [, later = ''] = await answers(2);
  expect(datedMs(later)).toBeGreaterThan(datedMs(earlier));
  expect(datedMs(later)).toBeLessThanOrEqual(Date.now());
});

test('so does a refusal', async () => {
  const { socket, answers } = await open();
  const stranger = post().replace(/Bearer \S+/, 'Bearer oak_nobody');
  socket.write(stranger);
  await answers(1);
  socket.write(stranger.replace('\r\n\r\n', '\r\nTE: trailers\r\n\r\n'));
  const [lane = '', node = ''] = await answers(2);
  expect(statuses([lane, node])).toEqual(['401', '401']);
  expect(headersOf(lane)).toEqual(headersOf(node));
  expect(lane.split('\r\n\r\n')[1]).toBe(node.split('\r\n\r\n')[1]);
});

test('a connection goes on with whatever comes next, in order', async () => {
  const { socket, answers } = await open();
  socket.write(post());
  await answers(1);
  socket.write(post());
  await answers(2);
  socket.write(GET);
  await answers(3);
  socket.write(post());
  expect(statuses(await answers(4))).toEqual(['202', '202', '200', '202']);
});

test('requests that are sent ahead are answered in their order', async () => {
  const { socket, answers } = await open();
  socket.write(post() + GET + post() + GET);
  expect(statuses(await answers(4))).toEqual(['202', '200', '202', '200']);
});

test('what comes while a request is answered is answered after it', async () => {
  const { socket, answers } = await open();
  for (let at = 0; at < 5; at += 1) {
    socket.write(post());
    socket.write(GET);
  }
  expect(statuses(await answers(10))).toEqual(Array.from({ length: 5 }, () => ['202', '200']).flat());
});

test('a request may come in any pieces', async () => {
  const { socket, answers } = await open();
  const text = post();
  for (const at of [1, text.indexOf('\r\n\r\n') + 2, text.indexOf('\r\n\r\n') + 4, text.length - 1]) {
    const { socket: other, answers: theirs } = await open();
    other.setNoDelay(true).write(text.slice(0, at));
    // The first piece has been read once a request that was sent later is answered.
    await fetch(`${gateway.url}/healthz`);
    other.write(text.slice(at));
    expect(statuses(await theirs(1))).toEqual(['202']);
  }
  socket.write(post());
  expect(statuses(await answers(1))).toEqual(['202']);
});

test('text beyond ASCII comes back whole', async () => {
  const { socket, answers } = await open();
  const body = bodyOf().replace('"lane"', '"Zürich 北京 🚂"');
  socket.write(post(body));
  const [answer = ''] = await answers(1);
  const [head = '', text = ''] = answer.split('\r\n\r\n');
  expect(Number(/content-length: (\d+)/.exec(head)?.[1])).toBe(text.length);
  expect(JSON.parse(Buffer.from(text, 'latin1').toString())).toMatchObject({ session_id: 'Zürich 北京 🚂' });
});

test('a client that sends no more has its answer, and then the end', async () => {
  const { socket, answers } = await open();
  const ended = once(socket, 'end');
  socket.end(post());
  expect(statuses(await answers(1))).toEqual(['202']);
  await ended;
});

test('a client that is gone before its answer takes nobody along', async () => {
  for (let at = 0; at < 20; at += 1) {
    const { socket } = await open();
    socket.write(post(), () => socket.resetAndDestroy());
  }
  const { socket, answers } = await open();
  socket.write(post());
  expect(statuses(await answers(1))).toEqual(['202']);
});

test('those that are gone while what came with theirs is worked on take nobody along', async () => {
  const clients = await Promise.all(Array.from({ length: 90 }, () => open()));
  const staying = clients.filter(({ socket }, at) => {
    const isStaying = at % 3 === 0;
    socket.write(post(), () => {
      if (at % 3 === 1) socket.resetAndDestroy();
      if (at % 3 === 2) socket.destroy();
    });
    return isStaying;
  });
  const came = await Promise.all(staying.map(({ answers }) => answers(1)));
  expect(came.flatMap(statuses)).toEqual(staying.map(() => '202'));
  for (const { socket } of staying) socket.write(post());
  const then = await Promise.all(staying.map(({ answers }) => answers(2)));
  expect(then.flatMap(statuses)).toEqual(staying.flatMap(() => ['202', '202']));
});

test('who wants the connection closed has it closed', async () => {
  const { socket, answers } = await open();
  const ended = once(socket, 'end');
  socket.write(post(bodyOf(), ['Connection: close']));
  expect(headersOf((await answers(1))[0] as string)).toMatchObject({ connection: 'close' });
  await ended;
});

describe('when the gateway ends', () => {
  test('a connection that was used and waits is closed, and delays nothing', async () => {
    const ending = await startGateway();
    const { socket, answers } = await open(ending.url);
    socket.write(post().replace(/Bearer \S+/, `Bearer ${ending.agentKey}`));
    expect(statuses(await answers(1))).toEqual(['202']);
    const closed = once(socket, 'close');
    socket.end();
    const { socket: waiting, answers: theirs } = await open(ending.url);
    waiting.write(post().replace(/Bearer \S+/, `Bearer ${ending.agentKey}`));
    await theirs(1);
    const left = once(waiting, 'close').catch(() => {});
    expect(await ending.stop()).toBe(0);
    waiting.end();
    await Promise.all([closed, left]);
    expect(ending.output()).not.toContain('drain step did not finish');
  });
});

test.each([
  'GET /v1/sessions/%zz',
  'GET /v1/sessions/%C3%28/decision-logs',
  'GET /%zz',
  'GET /assets/%zz.js',
  'GET /proxy/openai/v1/%zz',
  'GET /agents/%zz/proxy/openai/v1/models',
])('a path in which a % stands for nothing is refused, and takes nobody along: %s', async (request) => {
  const { socket, answers } = await open();
  const lines = [`${request} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${gateway.agentKey}`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [refused] = await answers(1);
  expect(refused).toMatch(/^400 /);
  expect(refused).toContain('"invalid_request"');
  const next = await open();
  next.socket.write(GET);
  expect(statuses(await next.answers(1))).toEqual(['200']);
});
