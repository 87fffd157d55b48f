/** The ingest contract over HTTP, against a real gateway: every answer and every refusal of the design's section 2. */

import { once } from 'node:events';
import http from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LIMITS } from '#contracts';
import { buildDecisionLog } from '#testing';
import { AGENT_KEY, type JsonResponse, type RunningGateway, startGateway } from './start-gateway.js';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { BODY_TIMEOUT_MS: '4000' } });
});
afterAll(async () => {
  expect(await gateway.stop()).toBe(0);
});

let serial = 0;
const uniqueId = (name: string) => {
  serial += 1;
  return `${name}-${serial}`;
};
const logOf = (sessionId: string, overrides: Record<string, unknown> = {}) =>
  buildDecisionLog({ meta: { trace_id: uniqueId('trace'), session_id: sessionId }, ...overrides } as never);
const ndjson = (lines: unknown[]) =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
const NDJSON = { 'content-type': 'application/x-ndjson' };

describe('one DecisionLog', () => {
  test.each(['.', '..', '\ud800'])(
    'of a session, or an agent, that no URL could name is refused: %j',
    async (id) => {
      for (const odd of [
        { meta: { trace_id: uniqueId('trace'), session_id: id } },
        { meta: { trace_id: id } },
        { identity: { agent_id: id } },
      ]) {
        const response = await gateway.ingest(buildDecisionLog(odd as never));
        expect(response.status).toBe(422);
        expect((await response.json()).detail).toContain('that a URL can name');
      }
    },
  );

  test.each(['\0', 'a\nb', '\u0085', '\u202etob', '\u2066b'])(
    'of an agent whose id has control characters or marks of direction is refused, and there is no policy for one: %j',
    async (id) => {
      const response = await gateway.ingest(buildDecisionLog({ identity: { agent_id: id } } as never));
      expect(response.status).toBe(422);
      expect((await response.json()).detail).toContain('without control characters and marks of direction');
      for (const [method, path, body] of [
        ['GET', 'policy', undefined],
        ['PATCH', 'policy', { requests_per_minute: 5 }],
        ['GET', 'kill-switch', undefined],
        ['POST', 'deactivate', { reason: 'stop' }],
        ['POST', 'reactivate', {}],
      ] as const) {
        const refused = await gateway.operator(
          method,
          `/v1/agents/${encodeURIComponent(id)}/${path}`,
          body as unknown,
        );
        expect(refused).toMatchObject({ status: 400, body: { reason: 'invalid_request' } });
        expect(refused.body.detail).toContain('without control characters and marks of direction');
      }
    },
  );

  test('is stored, scored and answered with 202', async () => {
    const log = logOf(uniqueId('session'));
    const response = await gateway.ingest(log);
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({
      status: 'accepted',
      trace_id: log.meta.trace_id,
      session_id: log.meta.session_id,
      entropy: { score: 1, severity: 'normal', window_size: 1 },
      control: { state: 'active', directives: [] },
    });
  });

  test("[FR-9.8+] goes out with the gateway's score, and the reported one is nowhere", async () => {
    const session = uniqueId('liar');
    for (let step = 0; step < 5; step += 1) {
      await gateway.ingest(logOf(session, { cognition: { intent: 'same', entropy_score: 0.9137 } }));
    }
    const { body } = await gateway.operator('GET', `/v1/sessions/${session}/decision-logs`);
    expect(body.items.map((item: any) => item.cognition.entropy_score)).toEqual([1, 0.5, 0.3333, 0.25, 0.2]);
    expect(body.items.at(-1).cognition.entropy_severity).toBe('loop');
    expect(JSON.stringify(body)).not.toContain('0.9137');
  });

  test('[FR-9.11+] is scored by the settings as an operator left them just before', async () => {
    const session = uniqueId('session');
    const entropyOf = async () => (await (await gateway.ingest(logOf(session))).json()).entropy;
    const set = async (values: Record<string, number | null>) =>
      expect((await gateway.operator('PATCH', '/v1/config', values)).status).toBe(200);
    onTestFinished(() =>
      set({ entropy_window_size: null, entropy_loop_threshold: null, entropy_warning_threshold: null }),
    );
    await entropyOf();
    expect(await entropyOf()).toEqual({ score: 0.5, severity: 'normal', window_size: 2 });
    await set({ entropy_warning_threshold: 0.3 });
    expect(await entropyOf()).toEqual({ score: 0.3333, severity: 'normal', window_size: 3 });
    await set({ entropy_loop_threshold: 0.26 });
    expect(await entropyOf()).toEqual({ score: 0.25, severity: 'loop', window_size: 4 });
    await set({ entropy_window_size: 3 });
    expect(await entropyOf()).toEqual({ score: 0.3333, severity: 'normal', window_size: 3 });
  });

  test('[FR-9.9-] that violates the schema leaves the window alone', async () => {
    const session = uniqueId('half-valid');
    await gateway.ingest(logOf(session));
    const { action: _, ...broken } = logOf(session);
    expect((await gateway.ingest(broken)).status).toBe(422);
    const next = await (await gateway.ingest(logOf(session))).json();
    expect(next.entropy.window_size).toBe(2);
  });

  test('sent again unchanged answers as the first time and counts once', async () => {
    const identity = { agent_id: 'a', agent_type: 'planner', capability_version: '3.0.0-never-seen' };
    const log = logOf(uniqueId('session'), { identity });
    const first = await (await gateway.ingest(log)).json();
    await gateway.ingest(logOf(log.meta.session_id as string));
    expect(await (await gateway.ingest(log)).json()).toStrictEqual(first);
    const { body } = await gateway.operator('GET', `/v1/sessions/${log.meta.session_id}`);
    expect(body.step_count).toBe(2);
  });

  test('sent twenty times at once is one step', async () => {
    const log = logOf(uniqueId('session'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => (await gateway.ingest(log)).json()),
    );
    expect(new Set(answers.map((answer) => answer.entropy.window_size))).toEqual(new Set([1]));
    const { body } = await gateway.operator('GET', `/v1/sessions/${log.meta.session_id}/decision-logs`);
    expect(body.items).toHaveLength(1);
  });

  test('with a reused trace_id and another body is another step, with a warning', async () => {
    const log = logOf(uniqueId('session'));
    await gateway.ingest(log);
    const answer = await (await gateway.ingest({ ...log, cognition: { intent: 'something else' } })).json();
    expect(answer.entropy.window_size).toBe(2);
    expect(answer.warnings.join()).toContain('meta.trace_id');
  });

  test("without a session goes to its parent's session, else to its own trace", async () => {
    const parent = logOf(uniqueId('session'));
    await gateway.ingest(parent);
    const child = buildDecisionLog({
      meta: { trace_id: uniqueId('child'), session_id: undefined, parent_step_id: parent.meta.trace_id },
    } as never);
    expect((await (await gateway.ingest(child)).json()).session_id).toBe(parent.meta.session_id);
    const orphan = buildDecisionLog({
      meta: { trace_id: uniqueId('orphan'), session_id: undefined, parent_step_id: 'never seen' },
    } as never);
    expect((await (await gateway.ingest(orphan)).json()).session_id).toBe(orphan.meta.trace_id);
  });

  test.each(['application/json', 'application/x-ndjson'])(
    'keeps the digits of ids of 64 bits among the arguments, and says how: %s',
    async (type) => {
      const session = uniqueId('digits');
      const log = JSON.stringify(logOf(session, { action: { status: 'success', tool_input: { id: 'ID' } } }));
      for (const id of ['1234567890123456701', '1234567890123456702', '9007199254740991']) {
        const response = await gateway.ingest(log.replace('"ID"', id), { 'content-type': type });
        expect(response.status).toBe(202);
      }
      const again = await gateway.ingest(log.replace('"ID"', '1234567890123456701'));
      expect((await again.json()).warnings).toEqual([
        'action.tool_input: whole numbers beyond 2^53 are kept as text',
      ]);
      const { body } = await gateway.operator('GET', `/v1/sessions/${session}/decision-logs`);
      expect(body.items.map((step: any) => step.action.tool_input.id)).toEqual([
        '1234567890123456701',
        '1234567890123456702',
        9007199254740991,
      ]);
    },
  );

  test('names unknown members and drops them', async () => {
    const log = { ...logOf(uniqueId('session')), colour: 'blue' };
    expect((await (await gateway.ingest(log)).json()).warnings.join()).toContain('colour');
  });
});

describe('a batch', () => {
  test('answers in order, each line for itself', async () => {
    const session = uniqueId('batch');
    const [one, two] = [logOf(session), logOf(session)];
    const body = ndjson([one, '{"broken', '', { meta: {} }, two]);
    const response = await gateway.ingest(body, NDJSON);
    expect(response.status).toBe(207);
    const { results } = await response.json();
    expect(results.map((result: any) => result.status)).toEqual([
      'accepted',
      'rejected',
      'rejected',
      'accepted',
    ]);
    expect(results[1]).toMatchObject({ reason: 'invalid_json', trace_id: null });
    expect(results[1].detail).toContain('line 2');
    expect(results[2].detail).toContain('missing required field: meta.trace_id');
    expect(results[3].entropy.window_size).toBe(2);
  });

  test('is 202 when all were taken and 422 when none', async () => {
    const session = uniqueId('array');
    expect((await gateway.ingest([logOf(session), logOf(session)])).status).toBe(202);
    expect((await gateway.ingest([{}, []])).status).toBe(422);
  });

  test('counts a copy inside itself once', async () => {
    const log = logOf(uniqueId('session'));
    const { results } = await (await gateway.ingest([log, log, log])).json();
    expect(results.map((result: any) => result.entropy)).toEqual(Array(3).fill(results[0].entropy));
  });

  test('compressed is read the same', async () => {
    const session = uniqueId('gzip');
    const body = gzipSync(ndjson(Array.from({ length: 500 }, () => logOf(session))));
    const response = await gateway.ingest(body, { ...NDJSON, 'content-encoding': 'gzip' });
    expect(response.status).toBe(202);
    expect((await response.json()).results).toHaveLength(500);
  });

  test('with more than the maximum of lines is refused whole', async () => {
    const response = await gateway.ingest(ndjson(Array(5_001).fill('{}')), NDJSON);
    expect(response.status).toBe(413);
    expect((await response.json()).detail).toContain('5000');
  });

  test.each(['1\n', '\n', ' \n'])(
    'of millions of lines %j is refused without a look at each',
    async (line) => {
      const body = gzipSync(Buffer.alloc(32 * 1024 * 1024, line));
      const response = await gateway.ingest(body, { ...NDJSON, 'content-encoding': 'gzip' });
      expect(response.status).toBe(413);
      expect((await response.json()).detail).toMatch(/^The (batch|body) holds more than/);
    },
  );
});

describe('refusals', () => {
  const expectRefusal = async (response: JsonResponse, status: number, reason: string) => {
    expect(response.status).toBe(status);
    const answer = await response.json();
    expect(answer.reason).toBe(reason);
    expect(answer.detail).toBeTypeOf('string');
    return answer;
  };

  test('a schema violation names the field and keeps the trace id', async () => {
    const { meta, ...rest } = logOf(uniqueId('session'));
    const { trace_id: _, ...metaWithout } = meta;
    expect(await (await gateway.ingest({ ...rest, meta: metaWithout })).json()).toEqual({
      status: 'rejected',
      reason: 'schema_violation',
      detail: 'missing required field: meta.trace_id',
      trace_id: null,
    });
    const wrong = await gateway.ingest({ ...rest, meta, action: { status: 'done' } });
    const answer = await expectRefusal(wrong, 422, 'schema_violation');
    expect(answer.detail).toContain('action.status');
    expect(answer.detail).not.toContain('missing');
    expect(answer.trace_id).toBe(meta.trace_id);
  });

  test.each([
    ['broken JSON', '{"meta":'],
    ['an empty body', ''],
    ['NaN', '{"a":NaN}'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ])('%s is invalid_json', async (_name, body) => {
    await expectRefusal(await gateway.ingest(body), 400, 'invalid_json');
  });

  test('lines that are not said to be lines are told how to say it', async () => {
    const lines = [1, 2].map((at) => JSON.stringify(buildDecisionLog({ meta: { trace_id: `line-${at}` } })));
    const answer = await expectRefusal(await gateway.ingest(lines.join('\n')), 400, 'invalid_json');
    expect(answer.detail).toContain('application/x-ndjson');
  });

  test('a key named twice is invalid_json and names the key', async () => {
    const text = JSON.stringify(logOf(uniqueId('session'))).replace(
      '"meta":{',
      '"meta":{"trace_id":"first",',
    );
    const answer = await expectRefusal(await gateway.ingest(text), 400, 'invalid_json');
    expect(answer.detail).toContain('trace_id');
  });

  test('no key, a wrong key and an operator token are 401', async () => {
    for (const authorization of ['', 'Bearer nobody', 'Basic abc', `Bearer ${gateway.operatorToken}`]) {
      const refused = await gateway.ingest({}, { authorization });
      const { detail } = await expectRefusal(refused, 401, 'unauthorized');
      expect(detail, 'tells who sent another secret what is wrong with it').toContain('valid agent key');
      expect(detail).toContain("An operator token or a vendor's key does not work here");
    }
  });

  test('a key that is revoked while the body comes is 401, and nothing is stored', async () => {
    const made = (await gateway.operator('POST', '/v1/agent-keys', { name: 'leaked' })).body;
    const session = uniqueId('revoked');
    const body = Buffer.from(JSON.stringify(logOf(session)));
    const request = http.request(`${gateway.url}/v1/decision-logs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${made.secret}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    const answered = once(request, 'response');
    await new Promise<void>((sent) => request.write(body.subarray(0, 20), () => sent()));
    // The head has been read once a request that was sent later is answered.
    await gateway.operator('DELETE', `/v1/agent-keys/${made.key.key_id}`);
    request.end(body.subarray(20));
    const [response] = await answered;
    expect(response.resume().statusCode).toBe(401);
    expect((await gateway.operator('GET', `/v1/sessions/${session}`)).status).toBe(404);
  });

  test('another content type or encoding is 415', async () => {
    await expectRefusal(
      await gateway.ingest('a=b', { 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    );
    await expectRefusal(
      await gateway.ingest('{}', { 'content-encoding': 'zstd' }),
      415,
      'unsupported_media_type',
    );
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('a body in %s that is cut short is refused and stores nothing', async (encoding, compress) => {
    const session = uniqueId(`cut-${encoding}`);
    const body = compress(ndjson(Array.from({ length: 50 }, () => logOf(session))));
    const headers = { ...NDJSON, 'content-encoding': encoding };
    for (const length of [1, Math.floor(body.length / 2), body.length - 1])
      await expectRefusal(await gateway.ingest(body.subarray(0, length), headers), 400, 'invalid_request');
    expect((await gateway.operator('GET', `/v1/sessions/${session}`)).status).toBe(404);
    expect((await gateway.ingest(body, headers)).status).toBe(202);
  });

  test('a gzip bomb stops at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, ' '));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    // Whoever reads it to its end finds it broken.
    bomb.subarray(-1_000).fill(0xff);
    await expectRefusal(await gateway.ingest(bomb, { 'content-encoding': 'gzip' }), 413, 'payload_too_large');
    await expectRefusal(
      await gateway.ingest('no gzip', { 'content-encoding': 'gzip' }),
      400,
      'invalid_request',
    );
  });

  test('a million empty objects, or names, are refused before anything walks over them', async () => {
    const text = JSON.stringify(buildDecisionLog({ action: { tool_input: { many: ['here'] } } }));
    const objects = (count: number) => text.replace('"here"', `${'{},'.repeat(count)}{}`);
    const names = Array.from({ length: 100_000 }, (_, at) => `"${at}":0`).join(',');
    const expectTooLarge = async (answer: JsonResponse, words: string) => {
      expect(answer.status).toBe(413);
      expect((await answer.json()).detail).toContain(words);
    };
    await expectTooLarge(await gateway.ingest(objects(1_000_000)), `${LIMITS.jsonValuesMax} JSON values`);
    await expectTooLarge(await gateway.ingest(text.replace('"here"', `{${names}}`)), '20000 different names');
    const ndjson = { 'content-type': 'application/x-ndjson' };
    await expectTooLarge(
      await gateway.ingest(`"\n${objects(1_000_000)}`, ndjson),
      `${LIMITS.jsonValuesMax} JSON values`,
    );
    expect((await gateway.ingest(objects(100_000))).status).toBe(202);
  });

  test('a hundred megabytes are refused without being read', async () => {
    const answer = await rawRequest({ 'content-length': String(100 * 1024 * 1024) }, async (request) => {
      const chunk = Buffer.alloc(64 * 1024, 0x20);
      request.on('error', () => {});
      for (let sent = 0; sent < 100 && !request.destroyed; sent += 1) request.write(chunk);
    });
    expect(answer.status).toBe(413);
  });

  test('a sender that dawdles is cut with 408', async () => {
    const answer = await rawRequest({ 'transfer-encoding': 'chunked' }, async (request) => {
      request.on('error', () => {});
      request.write('{"meta":');
    });
    expect(answer.status).toBe(408);
  });

  test('half a body leaves the gateway well', async () => {
    await new Promise<void>((settle) => {
      const request = http.request(`${gateway.url}/v1/decision-logs`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${AGENT_KEY}`,
          'content-type': 'application/json',
          'content-length': '1000',
        },
      });
      request.on('error', () => {});
      request.on('close', settle);
      request.write('{"half":');
      setImmediate(() => request.destroy());
    });
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  function rawRequest(
    headers: Record<string, string>,
    write: (request: http.ClientRequest) => Promise<void>,
  ): Promise<{ status: number }> {
    return new Promise((settle, fail) => {
      const request = http.request(
        `${gateway.url}/v1/decision-logs`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
        },
        (response) => {
          response.resume();
          settle({ status: response.statusCode ?? 0 });
          request.destroy();
        },
      );
      request.on('error', fail);
      write(request).catch(fail);
    });
  }
});

describe('violations', () => {
  test('are published with exactly the fields of the design, and never the payload', async () => {
    const canary = uniqueId('canary');
    await gateway.ingest({ identity: { agent_id: 'clumsy' }, secret: canary });
    const read = async () => (await gateway.operator('GET', '/v1/violations')).body;
    // The refusal does not wait for the disk.
    await expect.poll(async () => (await read()).items.map((item: any) => item.agent_id)).toContain('clumsy');
    const body = await read();
    const { seq: _, ...event } = body.items.find((item: any) => item.agent_id === 'clumsy');
    expect(Object.keys(event).sort()).toEqual(
      [
        'agent_id',
        'capability_version',
        'event_type',
        'raw_payload_hash',
        'timestamp',
        'violation_reason',
      ].sort(),
    );
    expect(event).toMatchObject({ event_type: 'schema_violation', capability_version: 'unknown' });
    expect(event.raw_payload_hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(JSON.stringify(body) + gateway.output()).not.toContain(canary);
  });
});
