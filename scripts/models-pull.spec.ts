/** Fetching a model: whole files only, from a host of any manners, a folder, or half of what an earlier run left. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '#testing/temporary-folder';
import { filesToPull, readManifest } from './lib/model-manifest.mjs';
import { PULL_LIMITS, pullFile, RECORDED_FILE } from './lib/model-pull.mjs';
import { openSource } from './lib/model-source.mjs';
import { PullError, storageProblem } from './lib/pull-error.mjs';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const weights = randomBytes(300_000);
const tokens = Buffer.from('{"tokens":[]}');
const pinned = (bytes: Buffer) => ({ bytes: bytes.length, sha256: sha256(bytes) });
const fileOf = (bytes = weights, over: object = {}) => ({
  name: 'model.onnx',
  url_path: 'publisher/x/onnx/model.onnx',
  ...pinned(bytes),
  also: [] as { bytes: number | null; sha256: string | null }[],
  ...over,
});
const manifestOf = (files: object[], over: object = {}) => ({
  model_id: 'x-model',
  title: 'A model for tests',
  licence: 'Apache-2.0',
  source: 'https://models.test/x',
  download_base: 'https://models.test/',
  dimension: 384,
  tokens_max: 256,
  files,
  ...over,
});

type Manners = (request: IncomingMessage, response: ServerResponse, index: number) => void;

/** As a static web server does it, Range included. */
const serve =
  (bytes: Buffer, { range = true } = {}): Manners =>
  (request, response) => {
    const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
    if (!range || from === undefined) {
      response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    } else if (Number(from) >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    } else {
      const rest = bytes.subarray(Number(from));
      const contentRange = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
      response.writeHead(206, { 'content-length': rest.length, 'content-range': contentRange }).end(rest);
    }
  };
/** Hangs up once so many bytes lie on the disk: those still on their way die with a connection. */
const cut =
  (bytes: Buffer, after: number): Manners =>
  (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const contentRange = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': bytes.length - from,
      ...(from > 0 ? { 'content-range': contentRange } : {}),
    });
    response.write(bytes.subarray(from, from + after));
    const look = () => {
      const { size } = statSync(inTo('model.onnx.part'), { throwIfNoEntry: false }) ?? { size: 0 };
      if (size >= from + after) response.destroy();
      else if (!response.destroyed) setTimeout(look, 1);
    };
    look();
  };
const status =
  (code: number, headers = {}): Manners =>
  (_, response) =>
    void response.writeHead(code, headers).end('<html>no</html>');

let folder: string;
let to: string;
let server: Server;
let url: string;
let asked: { path: string; range: string | undefined; authorization: string | undefined }[];
let manners: Manners;
let waits: number[];
let notes: string[];

beforeEach(async () => {
  folder = temporaryFolder();
  to = join(folder, 'to');
  asked = [];
  waits = [];
  notes = [];
  manners = serve(weights);
  server = createServer((request, response) => {
    const { range, authorization } = request.headers;
    asked.push({ path: request.url ?? '', range, authorization });
    manners(request, response, asked.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Different manners for each request in turn; the last one stays. */
const inTurn =
  (...all: Manners[]): Manners =>
  (request, response, index) =>
    all[Math.min(index, all.length - 1)]?.(request, response, index);
const inTo = (name: string) => join(to, name);
const content = (name = 'model.onnx') => readFileSync(inTo(name));
/** Buffers this long are compared by themselves: the general comparison takes seconds. */
const expectWhole = () => expect(content().equals(weights)).toBe(true);
const begin = (bytes: Buffer) => {
  mkdirSync(to, { recursive: true });
  writeFileSync(inTo('model.onnx.part'), bytes);
};

interface PullChanges {
  file?: ReturnType<typeof fileOf>;
  from?: string | undefined;
  signal?: AbortSignal;
  idleMs?: number;
  freeBytes?: (folder: string) => number;
  onProgress?: (have: number) => void;
}
async function pull({ file = fileOf(), from = url, signal, idleMs, ...rest }: PullChanges = {}) {
  const manifest = manifestOf([file]) as unknown as Parameters<typeof openSource>[0];
  return pullFile(file, {
    source: openSource(manifest, from, { idleMs }),
    to,
    signal: signal ?? new AbortController().signal,
    onNote: (text: string) => void notes.push(text),
    wait: async (ms: number) => waits.push(ms),
    ...rest,
  });
}
async function problemOf(work: Promise<unknown>): Promise<PullError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PullError);
  return error as PullError;
}

describe('a file from a host', () => {
  it('arrives whole, checked, and under its name only then', async () => {
    const seen: boolean[] = [];
    const onProgress = () => seen.push(existsSync(inTo('model.onnx')));
    expect(await pull({ onProgress })).toBe('pulled');
    expectWhole();
    expect(seen).not.toContain(true);
    expect(readdirSync(to)).toEqual(['model.onnx']);
    expect(asked).toEqual([
      { path: '/publisher/x/onnx/model.onnx', range: undefined, authorization: undefined },
    ]);
  });

  it('is left alone once it is there', async () => {
    await pull();
    expect(await pull()).toBe('present');
    expect(asked).toHaveLength(1);
  });

  it('replaces one that is not what the manifest says, and stays until it can', async () => {
    begin(Buffer.alloc(0));
    writeFileSync(inTo('model.onnx'), 'something else');
    manners = status(404);
    await problemOf(pull());
    expect(content().toString()).toBe('something else');
    manners = serve(weights);
    expect(await pull()).toBe('pulled');
    expectWhole();
    expect(notes[0]).toContain('not what the manifest says');
  });

  it('goes on where an earlier run stopped', async () => {
    begin(weights.subarray(0, 100_000));
    expect(await pull()).toBe('pulled');
    expect(asked.map(({ range }) => range)).toEqual(['bytes=100000-']);
    expectWhole();
  });

  it('is only checked where an earlier run had fetched every byte', async () => {
    begin(weights);
    expect(await pull()).toBe('pulled');
    expect(asked).toEqual([]);
  });

  it('goes on by itself when the connection is cut, as often as that brings new bytes', async () => {
    manners = inTurn(...Array.from({ length: 9 }, () => cut(weights, 30_000)), serve(weights));
    expect(await pull()).toBe('pulled');
    expectWhole();
    expect(asked).toHaveLength(10);
    expect(asked.slice(1).every(({ range }) => range?.startsWith('bytes='))).toBe(true);
    expect(notes[0]).toContain('from byte');
  });

  it('is begun anew where the host can’t resume', async () => {
    begin(weights.subarray(0, 100_000));
    manners = serve(weights, { range: false });
    expect(await pull()).toBe('pulled');
    expect(asked.map(({ range }) => range)).toEqual(['bytes=100000-']);
    expectWhole();
  });

  it('is fetched once more where what an earlier run left is of another file', async () => {
    begin(randomBytes(100_000));
    expect(await pull()).toBe('pulled');
    expect(asked.map(({ range }) => range)).toEqual(['bytes=100000-', undefined]);
    expectWhole();
    expect(notes.at(-1)).toContain('does not fit');
  });

  it('is begun anew where the part is longer than the file', async () => {
    begin(randomBytes(weights.length + 5));
    expect(await pull()).toBe('pulled');
    expect(asked.map(({ range }) => range)).toEqual([undefined]);
  });

  it('is begun anew where the host has nothing from there on', async () => {
    // A longer edition exists, so the part is not too long by itself.
    const file = fileOf(weights, { also: [{ bytes: 400_000, sha256: 'a'.repeat(64) }] });
    begin(randomBytes(weights.length + 5));
    expect(await pull({ file })).toBe('pulled');
    expect(asked.map(({ range }) => range)).toEqual(['bytes=300005-', undefined]);
    expectWhole();
  });

  it('is begun anew where the host sends another part than was asked for', async () => {
    begin(weights.subarray(0, 10));
    const contentRange = { 'content-range': `bytes 5-9/${weights.length}` };
    manners = inTurn(
      (_, response) => void response.writeHead(206, contentRange).end('wrong'),
      serve(weights),
    );
    expect(await pull()).toBe('pulled');
    expect(asked.map(({ range }) => range)).toEqual(['bytes=10-', undefined]);
    expectWhole();
  });

  it('of another edition that is as good is taken', async () => {
    const file = fileOf(tokens, { also: [pinned(weights)] });
    expect(await pull({ file })).toBe('pulled');
    expect(await pull({ file })).toBe('present');
  });

  it('is asked for again after 429 and 5xx, as the host wishes', async () => {
    manners = inTurn(status(429, { 'retry-after': '7' }), status(503), serve(weights));
    expect(await pull()).toBe('pulled');
    expect(waits).toEqual([7_000, 2_000]);
  });

  // On a busy machine an answer, too, may take longer than these wait: it is asked for once more.
  it('is asked for again after silence', async () => {
    manners = inTurn(() => {}, serve(weights));
    expect(await pull({ idleMs: 100 })).toBe('pulled');
    expect(waits[0]).toBe(1_000);
    expect(notes[0]).toContain('is silent');
  });

  it('that falls silent in the middle is gone on with', async () => {
    manners = (request, response, index) => {
      if (request.headers.range !== undefined) return serve(weights)(request, response, index);
      response.writeHead(200, { 'content-length': weights.length });
      response.write(weights.subarray(0, 1_000));
    };
    expect(await pull({ idleMs: 150 })).toBe('pulled');
    expect(asked.at(-1)?.range).toBe('bytes=1000-');
  });

  it('is looked for by its bare name where a mirror is a plain folder', async () => {
    manners = (request, response, index) =>
      (request.url === '/mirror/model.onnx' ? serve(weights) : status(404))(request, response, index);
    expect(await pull({ from: `${url}mirror` })).toBe('pulled');
    expect(asked.map(({ path }) => path)).toEqual([
      '/mirror/publisher/x/onnx/model.onnx',
      '/mirror/model.onnx',
    ]);
  });

  it('sends a mirror’s user and password, and shows them to nobody', async () => {
    manners = status(404);
    const problem = await problemOf(pull({ from: url.replace('//', '//me:hush%21@') }));
    expect(asked[0]?.authorization).toBe(`Basic ${Buffer.from('me:hush!').toString('base64')}`);
    expect(problem.message).not.toContain('hush');
  });
});

describe('a pull that can’t succeed', () => {
  it('says what is not there', async () => {
    manners = status(404);
    expect(await problemOf(pull())).toMatchObject({
      problem: 'missing',
      message: expect.stringMatching(/has no publisher\/x\/onnx\/model\.onnx \(404\).*MODELS_MIRROR/),
    });
  });

  it('says that it may not have it', async () => {
    manners = status(403);
    expect(await problemOf(pull())).toMatchObject({
      problem: 'failed',
      message: expect.stringContaining('(403)'),
    });
    expect(asked).toHaveLength(1);
  });

  it('removes what has the right size and the wrong checksum, and names both sums', async () => {
    const other = randomBytes(weights.length);
    manners = serve(other);
    const problem = await problemOf(pull());
    expect(problem.problem).toBe('mismatch');
    expect(problem.message).toContain(sha256(weights));
    expect(problem.message).toContain(sha256(other));
    expect(readdirSync(to)).toEqual([]);
  });

  it('does not fetch what has the wrong size, such as a page that asks to log in', async () => {
    manners = serve(Buffer.from('<html>please log in</html>'));
    const problem = await problemOf(pull());
    expect(problem).toMatchObject({ problem: 'mismatch', message: expect.stringContaining('has 26 bytes') });
    expect(readdirSync(to)).toEqual([]);
  });

  it('stops reading where more comes than the manifest says', async () => {
    manners = (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write(weights));
        response.once('drain', more);
      };
      more();
    };
    const problem = await problemOf(pull());
    expect(problem).toMatchObject({ problem: 'mismatch', message: expect.stringContaining('sends more') });
    expect(readdirSync(to)).toEqual([]);
  });

  it('gives up on a host that hangs up each time, keeps what it has, and says how to go on', async () => {
    manners = inTurn(cut(weights, 50_000), (_, response) => response.destroy());
    const problem = await problemOf(pull());
    expect(problem.problem).toBe('unreachable');
    expect(problem.message).toContain('50000 bytes of model.onnx are kept: run this again');
    expect(asked).toHaveLength(1 + PULL_LIMITS.fruitlessAttemptsMax);
    manners = serve(weights);
    expect(await pull()).toBe('pulled');
    expect(asked.at(-1)?.range).toBe('bytes=50000-');
  });

  it('says what to do where there is no network', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const problem = await problemOf(pull());
    expect(problem.problem).toBe('unreachable');
    expect(problem.message).toMatch(/connection was refused[\s\S]*--from <folder>[\s\S]*MODELS_MIRROR/);
  });

  it('does not begin what the disk has no room for', async () => {
    const problem = await problemOf(pull({ freeBytes: () => 1_000 }));
    expect(problem).toMatchObject({
      problem: 'storage',
      message: expect.stringContaining('300000 more bytes'),
    });
    expect(readdirSync(to)).toEqual([]);
  });

  it.each([
    ['ENOSPC', /disk is full.*goes on/],
    ['EROFS', /can't be written.*--to/],
    ['EACCES', /can't be written.*--to/],
  ])('says in words what the disk says with %s', (code, words) => {
    const problem = storageProblem(Object.assign(new Error('raw'), { code }), '/models/x');
    expect(problem).toMatchObject({ problem: 'storage', message: expect.stringMatching(words) });
  });

  it('names what is in the way of the folder', async () => {
    writeFileSync(to, 'a file');
    expect(await problemOf(pull())).toMatchObject({
      problem: 'storage',
      message: expect.stringContaining('in the way'),
    });
  });

  it('stops when it is told to, and goes on from there the next time', async () => {
    const stop = new AbortController();
    manners = (_, response) => {
      response.writeHead(200, { 'content-length': weights.length });
      response.write(weights.subarray(0, 40_000));
    };
    const reason = new Error('stopped');
    const onProgress = (have: number) => have > 0 && stop.abort(reason);
    await expect(pull({ signal: stop.signal, onProgress })).rejects.toBe(reason);
    manners = serve(weights);
    expect(await pull()).toBe('pulled');
    expectWhole();
  });
});

describe('a file whose checksum nobody pins', () => {
  const unpinned = (over = {}) => fileOf(weights, { sha256: null, ...over });

  it('is recorded when it is first seen, and held to that afterwards', async () => {
    expect(await pull({ file: unpinned() })).toBe('recorded');
    expect(JSON.parse(content(RECORDED_FILE).toString())).toEqual({ 'model.onnx': pinned(weights) });
    expect(await pull({ file: unpinned() })).toBe('present');
    rmSync(inTo('model.onnx'));
    manners = serve(randomBytes(weights.length));
    expect(await problemOf(pull({ file: unpinned() }))).toMatchObject({ problem: 'mismatch' });
  });

  it('may be of unknown size, and is resumed all the same', async () => {
    manners = inTurn(cut(weights, 70_000), serve(weights));
    expect(await pull({ file: unpinned({ bytes: null }) })).toBe('recorded');
    expectWhole();
  });
});

describe('a file from a folder', () => {
  it('is taken by its name, by the last part of its path, or by its path', async () => {
    for (const path of ['model.onnx', 'original-name.onnx', 'deep/original-name.onnx']) {
      const from = mkdtempSync(join(folder, 'from-'));
      mkdirSync(join(from, 'deep'));
      writeFileSync(join(from, path), weights);
      rmSync(to, { recursive: true, force: true });
      expect(await pull({ from, file: fileOf(weights, { url_path: 'deep/original-name.onnx' }) })).toBe(
        'pulled',
      );
      expectWhole();
    }
    expect(asked).toEqual([]);
  });

  it('is checked like any other', async () => {
    writeFileSync(join(folder, 'model.onnx'), randomBytes(weights.length));
    expect(await problemOf(pull({ from: folder }))).toMatchObject({ problem: 'mismatch' });
  });

  it('that does not hold it, or is none, is named', async () => {
    expect((await problemOf(pull({ from: folder }))).message).toContain(`${folder} holds no model.onnx`);
    expect((await problemOf(pull({ from: join(folder, 'nowhere') }))).message).toContain('is no folder');
    expect((await problemOf(pull({ from: 'ftp://models.test/' }))).problem).toBe('usage');
  });
});

describe('a manifest', () => {
  const write = (value: unknown) => {
    const path = join(folder, 'manifest.json');
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
    return path;
  };

  it('says which files make a precision', () => {
    const files = [
      fileOf(weights, { name: 'small.onnx', variant: 'int8' }),
      fileOf(weights, { name: 'large.onnx', variant: 'fp32' }),
      fileOf(tokens, { name: 'tokens.json' }),
      { name: 'here.bin', ...pinned(tokens) },
    ];
    const manifest = readManifest(write(manifestOf(files, { variant_default: 'int8' })));
    const names = (variant?: string) => filesToPull(manifest, variant).map(({ name }) => name);
    expect(names()).toEqual(['small.onnx', 'tokens.json']);
    expect(names('fp32')).toEqual(['large.onnx', 'tokens.json']);
    expect(() => names('int4')).toThrow('does not come as int4: it has int8 and fp32');
  });

  it.each([
    ['is missing', null],
    ['is no JSON', '{'],
    [
      'leads out of the folder by a name',
      manifestOf([fileOf(weights, { name: '../../.ssh/authorized_keys' })]),
    ],
    ['leads out of the place by a path', manifestOf([fileOf(weights, { url_path: 'a/../../b' })])],
    ['has a checksum that is none', manifestOf([fileOf(weights, { sha256: 'abc' })])],
    ['names no files', manifestOf([])],
  ])('that %s is refused', (_, value) => {
    const path = value === null ? join(folder, 'nowhere.json') : write(value);
    expect(() => readManifest(path)).toThrow(PullError);
  });

  it('of this repository for minilm names weights, tokenizer and where they are', () => {
    const path = fileURLToPath(new URL('../models/all-MiniLM-L6-v2/manifest.json', import.meta.url));
    const manifest = readManifest(path);
    expect(manifest).toMatchObject({ model_id: 'all-MiniLM-L6-v2', dimension: 384, licence: 'Apache-2.0' });
    for (const precision of ['int8', 'fp32']) {
      const names = filesToPull(manifest, precision).map(({ name }) => name);
      expect(names.filter((name) => name.endsWith('.onnx'))).toHaveLength(1);
      expect(names).toContain('tokenizer.json');
    }
  });

  const shared = fileURLToPath(
    new URL(
      `${process.env.OBSERVATORY_SHARED ?? '../shared'}/models/all-MiniLM-L6-v2`,
      new URL('../', import.meta.url),
    ),
  );
  it.skipIf(!existsSync(shared))(
    'of this repository fits the real tokenizer files (runs where OBSERVATORY_SHARED is)',
    async () => {
      const path = fileURLToPath(new URL('../models/all-MiniLM-L6-v2/manifest.json', import.meta.url));
      const files = filesToPull(readManifest(path)).filter(({ name }) => !name.endsWith('.onnx'));
      expect(files.length).toBeGreaterThan(0);
      for (const file of files)
        expect(await pull({ file: fileOf(tokens, file), from: shared })).toBe('pulled');
    },
  );
});

// Processes: on a machine under load each takes seconds to start.
describe('npm run models:pull', { timeout: 120_000 }, () => {
  const script = fileURLToPath(new URL('./models-pull.mjs', import.meta.url));
  const run = (args: string[], { env = {}, onErr = (_: string, __: () => void) => {} } = {}) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const child = spawn(process.execPath, [script, ...args], {
        env: { ...process.env, ...env },
        cwd: folder,
      });
      let out = '';
      let err = '';
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        err += chunk;
        onErr(err, () => child.kill('SIGINT'));
      });
      child.on('close', (code) => resolve({ code, out, err }));
    });
  const ownModel = () => {
    const model = join(folder, 'own');
    mkdirSync(model);
    const files = [fileOf(), fileOf(tokens, { name: 'tokens.json', url_path: 'tokens.json', sha256: null })];
    writeFileSync(join(model, 'manifest.json'), JSON.stringify(manifestOf(files)));
    manners = (request, response, index) =>
      serve(request.url?.endsWith('.onnx') ? weights : tokens)(request, response, index);
    return model;
  };

  it('fetches a model, says what was checked and what was not, and how to use it', async () => {
    const model = ownModel();
    const { code, out, err } = await run([model], { env: { MODELS_MIRROR: url } });
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(/model\.onnx {2}0\.3 MB, checked\n.*nobody pins its checksum/),
    });
    expect(err).not.toContain('\u001b');
    expect(out).toContain('Licence: Apache-2.0');
    expect(out).toContain('LOOP_EMBEDDING_MODEL_PATH=own');
    expect(readFileSync(join(model, 'model.onnx')).equals(weights)).toBe(true);
    const again = await run([model, '--from', url]);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('already there, checked') });
  });

  it('has an exit status for each thing that can go wrong', async () => {
    const model = ownModel();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    manners = serve(randomBytes(weights.length));
    const runs: [expected: number, ...args: string[]][] = [
      [0, '--help'],
      [2],
      [2, '--wrong'],
      [2, 'nobody-knows-it'],
      [2, model, '--precision', 'int3'],
      [4, model, '--from', join(folder, 'nowhere')],
      [5, model, '--from', url],
      [6, model, '--from', url, '--to', file],
    ];
    // Side by side: each takes as long as Node needs to start.
    const statuses = await Promise.all(runs.map(async ([, ...args]) => (await run(args)).code));
    expect(statuses).toEqual(runs.map(([expected]) => expected));
  });

  it('is stopped by Ctrl-C and keeps what it has', async () => {
    const model = ownModel();
    writeFileSync(join(model, 'model.onnx.part'), weights.subarray(0, 40_000));
    manners = (_, response) => {
      const contentRange = `bytes 40000-${weights.length - 1}/${weights.length}`;
      response.writeHead(206, { 'content-length': weights.length - 40_000, 'content-range': contentRange });
      response.flushHeaders();
    };
    let isInterrupted = false;
    const stopped = run([model, '--from', url], {
      onErr: (err, interrupt) => {
        if (isInterrupted || !err.includes('going on from')) return;
        isInterrupted = true;
        interrupt();
      },
    });
    expect(await stopped).toMatchObject({ code: 130, err: expect.stringContaining('Run it again') });
    expect(readFileSync(join(model, 'model.onnx.part')).length).toBe(40_000);
  });
});
