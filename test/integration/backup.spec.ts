/** `npm run backup` as a person runs it: another process, beside a gateway that goes on writing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildDecisionLog } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { mountSmallDisk } from './small-disk.js';
import { startGateway } from './start-gateway.js';
import { gateway, startOneGateway, upstream } from './start-one-gateway.js';

const SCRIPT = fileURLToPath(new URL('../../scripts/backup.mjs', import.meta.url));
const disk = mountSmallDisk(4 * 1024 * 1024);

async function backup(...args: string[]) {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, err };
}

const post = (session_id: string, trace_id: string) =>
  gateway.ingest(buildDecisionLog({ meta: { session_id, trace_id } } as never));

startOneGateway();

describe('backup', () => {
  it('copies what was acknowledged before it, while agents go on; a gateway starts on the copy', async () => {
    const vendor = { base_url: `${upstream.origin}/v1`, kind: 'openai', api_key: 'sk-sealed' };
    expect((await gateway.operator('PUT', '/v1/upstreams/vendor', vendor)).status).toBe(200);
    for (let at = 0; at < 50; at += 1) expect((await post('before', `before-${at}`)).status).toBe(202);
    await gateway.operator('POST', '/v1/sessions/before/pause', { reason: 'look' });

    let isOver = false;
    const agents = (async () => {
      let count = 0;
      for (; !isOver; count += 1) expect((await post('meanwhile', `meanwhile-${count}`)).status).toBe(202);
      return count;
    })();
    const folder = join(temporaryFolder(), 'deep', 'copy');
    const result = await backup(folder, '--data-dir', gateway.dataDir);
    isOver = true;
    expect(await agents).toBeGreaterThan(0);

    expect(result).toMatchObject({
      code: 0,
      out: expect.stringMatching(/sound\.\nThe audit is whole: \d+ entries\.\nsecret\.key is in it/),
    });
    expect(readdirSync(folder).sort()).toEqual(['observatory.db', 'secret.key']);
    for (const path of [folder, join(folder, 'observatory.db'), join(folder, 'secret.key')])
      expect(statSync(path).mode & 0o077, path).toBe(0);

    const { url, agentKey, operator, stop } = await startGateway({ dataDir: folder });
    const session = (await operator('GET', '/v1/sessions/before')).body;
    expect(session).toMatchObject({ step_count: 50, control: { state: 'pause_requested' } });
    expect((await operator('GET', '/v1/audit/verify')).body).toMatchObject({ ok: true });
    upstream.script((_call, response) => void response.writeHead(404).end());
    await fetch(`${url}/proxy/vendor/v1/models`, { headers: { authorization: `Bearer ${agentKey}` } });
    expect(upstream.calls.at(-1)?.headers.authorization).toBe('Bearer sk-sealed');
    await stop();
  });

  it('says that the key is elsewhere where it is', async () => {
    const dataDir = temporaryFolder();
    await (
      await startGateway({ dataDir, env: { OBSERVATORY_SECRET_KEY: 'a-secret-of-many-many-letters' } })
    ).stop();
    const { code, out } = await backup(join(dataDir, 'copy'), '--data-dir', dataDir);
    expect(code).toBe(0);
    expect(out).toContain('needs the OBSERVATORY_SECRET_KEY');
  });

  it('does not write where something is, and names what it cannot use', async () => {
    const full = temporaryFolder();
    writeFileSync(join(full, 'mine'), 'kept');
    for (const [args, reason] of [
      [[full, '--data-dir', gateway.dataDir], 'is not empty'],
      [[join(full, 'mine', 'copy'), '--data-dir', gateway.dataDir], 'no folder can be made'],
      [['/proc/copy', '--data-dir', gateway.dataDir], 'no folder can be made'],
      [[join(full, 'copy'), '--data-dir', full], 'there is no'],
      [[], 'name one folder'],
      [['a', 'b'], 'name one folder'],
      [['a', '--nonsense'], '--nonsense'],
    ] as const)
      expect(await backup(...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(reason) });
    expect(readdirSync(full)).toEqual(['mine']);
  });

  it.skipIf(disk === null)('leaves nothing behind on a disk that gets full', async () => {
    const folder = join(disk?.mountPoint as string, 'copy');
    mkdirSync(folder);
    disk?.fill(64 * 1024);
    expect(await backup(folder, '--data-dir', gateway.dataDir)).toMatchObject({
      code: 1,
      err: expect.stringContaining('the disk is full'),
    });
    expect(readdirSync(folder)).toEqual([]);
    disk?.clear();
  });

  it('is none of a database that is damaged', async () => {
    const dataDir = temporaryFolder();
    const copy = join(dataDir, 'copy');
    expect((await backup(copy, '--data-dir', gateway.dataDir)).code).toBe(0);
    const path = join(copy, 'observatory.db');
    truncateSync(path, statSync(path).size - 3 * 4_096);
    const again = join(dataDir, 'again');
    const { code, err } = await backup(again, '--data-dir', copy);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/damaged|malformed/) });
    expect(existsSync(join(again, 'observatory.db'))).toBe(false);
    rmSync(dataDir, { recursive: true });
  });
});
