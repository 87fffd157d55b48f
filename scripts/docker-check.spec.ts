/** What is under docker/ holds, and each rule that says so notices when it does not. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '#testing/temporary-folder';
import { checkDocker } from './docker-check.mjs';
import { checkCompose } from './lib/compose-rules.mjs';
import { checkDockerfile, imageFault, sharedStageFaults } from './lib/docker-rules.mjs';
import { parseDockerfile, parseDockerignore } from './lib/dockerfile.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('the files under docker/', () => {
  it('have nothing wrong', () => {
    expect(checkDocker(root)).toEqual([]);
  });

  it('switch off what ONNX Runtime would report to its maker', () => {
    for (const path of ['docker/gateway.Dockerfile', 'docker/embedding-sidecar.Dockerfile'])
      expect(read(path)).toMatch(/^ {2}ORT_DISABLE_TELEMETRY=1$/m);
  });

  it('are missed when they are missing', () => {
    expect(checkDocker(temporaryFolder())).toContain('docker/compose.yaml: it does not exist');
  });

  it('let no secrets, data, tests or fetched weights into a build', () => {
    const isIgnored = parseDockerignore(read('.dockerignore'));
    for (const path of [
      '.env',
      '.git/config',
      'data/observatory.db',
      'docker/gateway.env',
      'apps/gateway/.env',
      'apps/gateway/src/main.spec.ts',
      'scripts/secret.env',
      'models/all-MiniLM-L6-v2/model_quantized.onnx',
      'node_modules/zod/package.json',
      'libs/x/node_modules/y',
      'test/e2e/a.ts',
    ])
      expect([path, isIgnored(path)]).toEqual([path, true]);
    for (const path of [
      'package.json',
      '.npmrc',
      'apps/gateway/src/main.ts',
      'apps/dashboard/vite.config.ts',
      'libs/contracts/proto/observatory/embedding/v1/embedding.proto',
      'models/observatory-static-384/observatory-static-384.onnx',
      'models/all-MiniLM-L6-v2/manifest.json',
    ])
      expect([path, isIgnored(path)]).toEqual([path, false]);
  });

  it('override for MiniLM a service that there is', () => {
    const override = parse(read('docker/compose.minilm.yaml'));
    const compose = parse(read('docker/compose.yaml'), { merge: true });
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(override.services)));
  });
});

describe('a Dockerfile', () => {
  let context: string;
  beforeEach(() => {
    context = temporaryFolder();
    mkdirSync(join(context, 'apps/x/src'), { recursive: true });
    writeFileSync(join(context, 'apps/x/src/main.ts'), '');
    writeFileSync(join(context, 'package.json'), '{}');
    writeFileSync(join(context, 'secret.env'), '');
    writeFileSync(join(context, '.dockerignore'), '*.env\n');
  });

  const good = `ARG V=20.1
FROM node:\${V}-bookworm AS build
WORKDIR /app
COPY package.json ./
# a comment
RUN npm ci \\
# one between
  && npm run build

FROM node:\${V}-bookworm-slim
WORKDIR /app
COPY --from=build /app/dist ./dist
RUN mkdir -p /data && chown 1000:1000 /data
VOLUME ["/data"]
USER 1000:1000
HEALTHCHECK --interval=5s --timeout=3s CMD ["node", "dist/apps/x/src/main.js"]
CMD ["node", "dist/apps/x/src/main.js"]
`;
  const check = (text: string) => checkDockerfile(text, { root: context });

  it('is read stage by stage, flags and continued lines included', () => {
    const { stages, faults } = parseDockerfile(good);
    expect(faults).toEqual([]);
    expect(stages.map(({ image, name }) => [image, name])).toEqual([
      ['node:20.1-bookworm', 'build'],
      ['node:20.1-bookworm-slim', null],
    ]);
    expect(stages[0]?.instructions.at(-1)).toMatchObject({ line: 6, text: 'npm ci && npm run build' });
    expect(stages[1]?.instructions.find(({ name }) => name === 'HEALTHCHECK')).toMatchObject({
      flags: ['--interval=5s', '--timeout=3s'],
      exec: ['node', 'dist/apps/x/src/main.js'],
    });
  });

  it('with nothing wrong has no faults', () => {
    expect(check(good)).toEqual([]);
  });

  it.each<[string, [string, string], string]>([
    ['runs as root', ['USER 1000:1000\n', ''], 'there is no USER'],
    ['says that it runs as root', ['USER 1000:1000', 'USER root'], 'is root'],
    ['names its user', ['USER 1000:1000', 'USER node'], 'is a name'],
    ['has no health check', ['HEALTHCHECK', 'LABEL x='], 'there is no HEALTHCHECK'],
    [
      'switches it off',
      ['HEALTHCHECK --interval=5s --timeout=3s CMD ["node", "dist/apps/x/src/main.js"]', 'HEALTHCHECK NONE'],
      'there is no HEALTHCHECK',
    ],
    [
      'checks by a program that nothing becomes',
      ['CMD ["node", "dist/apps/x/src/main.js"]\nCMD', 'CMD ["node", "dist/apps/x/src/health.js"]\nCMD'],
      'which nothing here becomes',
    ],
    [
      'starts through a shell',
      ['\nCMD ["node", "dist/apps/x/src/main.js"]', '\nCMD node dist/apps/x/src/main.js'],
      'CMD is not a JSON array',
    ],
    ['takes what is newest', [`FROM node:\${V}-bookworm-slim`, 'FROM node'], 'has no tag'],
    ['takes `latest`', [`FROM node:\${V}-bookworm-slim`, 'FROM node:latest'], 'not pinned'],
    [
      'names a registry',
      [`FROM node:\${V}-bookworm-slim`, 'FROM registry.test:5000/node:20.1'],
      "registry's host",
    ],
    [
      'copies what is not there',
      ['COPY package.json', 'COPY package-lock.json'],
      'package-lock.json does not exist',
    ],
    ['copies what is left out', ['COPY package.json', 'COPY secret.env'], 'left out by .dockerignore'],
    ['copies everything', ['COPY package.json', 'COPY .'], 'takes whatever lies about'],
    ['copies from no stage', ['--from=build', '--from=built'], 'is no stage above'],
    ['holds a secret', ['VOLUME', 'ENV API_KEY=x\nVOLUME'], 'API_KEY would be in the image'],
    ['asks for a secret', ['VOLUME', 'ARG NPM_TOKEN\nVOLUME'], 'NPM_TOKEN would be in the image'],
    ['goes beyond the lock file', ['npm ci', 'npm install'], 'npm ci does not'],
    ['downloads', ['npm ci', 'curl https://x.test | sh'], 'pinned by nothing'],
    ['unpacks', ['COPY package.json', 'ADD package.json'], 'COPY does neither'],
    ['installs in the last stage', ['RUN mkdir', 'RUN npm ci && mkdir'], 'the last stage runs npm'],
    ['leaves a volume to root', [' && chown 1000:1000 /data', ''], "it would be root's"],
    ['misspells', ['WORKDIR /app\nCOPY package', 'WORKDR /app\nCOPY package'], 'WORKDR is no instruction'],
  ])('that %s is noticed', (_, [from, to], fault) => {
    const changed = good.replace(from, () => to);
    expect(changed).not.toBe(good);
    expect(check(changed)).toContainEqual(expect.stringContaining(fault));
  });

  it('shares its first stages with the other, or is built twice', () => {
    expect(sharedStageFaults(good, good.replace('USER 1000', 'USER 1001'))).toEqual([]);
    expect(sharedStageFaults(good, good.replace('npm ci', 'npm  ci --no-audit'))).toEqual([
      expect.stringContaining('stage build differs'),
    ]);
  });

  it.each([
    ['redis:8', true],
    ['observatory/x:1.2', true],
    [`node@sha256:${'a'.repeat(64)}`, true],
    ['redis', false],
    ['redis:latest', false],
    ['redis:alpine', false],
    ['localhost/redis:8', false],
    ['host.test/redis:8', false],
  ])('image %s is pinned: %s', (image, isGood) => {
    expect(imageFault(image) === null).toBe(isGood);
  });
});

describe('the compose file', () => {
  const path = join(root, 'docker/compose.yaml');
  const text = read('docker/compose.yaml');

  it.each<[string, [string, string], string]>([
    ['is no YAML', ['services:', 'services: ['], ''],
    ['says a thing twice', ['name: observatory', 'name: observatory\nname: observatory'], ''],
    ['has a member nobody checks', ["user: '999:999'", 'privileged: true'], 'privileged'],
    [
      'opens a port to the world',
      ["'127.0.0.1:4000:4000'", "'4000:4000'"],
      'gateway: port 4000:4000 is open',
    ],
    [
      'opens Redis',
      ['networks: [limits]', "ports: ['6379:6379']\n    networks: [limits]"],
      'redis: port 6379:6379 is open',
    ],
    [
      'lets roots be written',
      ['read_only: true', 'read_only: false'],
      'embedding-sidecar: its root can be written to',
    ],
    ['keeps capabilities', ['cap_drop: [ALL]', 'cap_drop: [NET_RAW]'], 'redis: it keeps capabilities'],
    ['lets privileges grow', ["['no-new-privileges:true']", '[]'], 'gateway: it may gain privileges'],
    ['has no /tmp', ["tmpfs: ['/tmp", "tmpfs: ['/var/tmp"], 'gateway: it has no /tmp'],
    ['runs Redis as root', ["    user: '999:999'\n", ''], 'redis: it runs as root'],
    ['takes any Redis', ['image: redis:8', 'image: redis'], 'redis: redis has no tag'],
    [
      'calls an image of ours latest',
      ['observatory-gateway:local', 'observatory-gateway:latest'],
      'gateway: observatory-gateway:latest',
    ],
    [
      'mounts an undeclared volume',
      ['gateway-data:/var', 'gateway-date:/var'],
      'volume gateway-date is not declared',
    ],
    [
      'declares a volume for nobody',
      ['volumes:\n  gateway-data', 'volumes:\n  spare: {}\n  gateway-data'],
      'volume spare is used by nobody',
    ],
    [
      'joins an undeclared network',
      ['networks: [limits]', 'networks: [limit]'],
      'network limit is not declared',
    ],
    [
      'does not mount what an image writes to',
      ['      - gateway-data:/var/lib/observatory\n', ''],
      'mounted from nowhere',
    ],
    [
      'builds from a file that is not there',
      ['docker/gateway.Dockerfile\n    env', 'docker/gate.Dockerfile\n    env'],
      'docker/gate.Dockerfile does not exist',
    ],
    [
      'waits for a service that is not there',
      ['      redis:\n        condition', '      redis-cache:\n        condition'],
      'depends on redis-cache',
    ],
    ['waits for health that nobody checks', ['test: [CMD, redis-cli, -e, ping]', 'test: []'], 'healthcheck'],
    [
      'asks a Redis it can’t reach',
      ['redis://redis:6379', 'redis://redis-embedding:6379'],
      'REDIS_URL names redis-embedding, and no network has both',
    ],
    [
      'asks a Redis that is not there',
      ['redis://redis:6379', 'redis://cache:6379'],
      'names cache, which is no service',
    ],
    [
      'looks for the socket elsewhere',
      ['UDS: /run/observatory/embedding-sidecar.sock', 'UDS: /run/observatory/other.sock'],
      'the gateway looks at',
    ],
    [
      'gives each side a socket folder of its own',
      ["['sockets:/run/observatory']", "['redis-data:/run/observatory']"],
      'the gateway looks at',
    ],
    [
      'runs the two sides as two users',
      ['image: observatory-gateway:local', "image: observatory-gateway:local\n    user: '1001:1001'"],
      "the socket is its owner's alone",
    ],
    [
      'holds a secret',
      ['REDIS_URL: redis://redis:6379', 'OBSERVATORY_SECRET_KEY: hush'],
      'OBSERVATORY_SECRET_KEY holds a secret',
    ],
    [
      'holds a password in a URL',
      ['redis://redis:6379', 'redis://:hush@redis:6379'],
      'REDIS_URL holds a secret',
    ],
    [
      'hands over the engine',
      ["['redis-data:/data']", "['redis-data:/data', '/var/run/docker.sock:/x']"],
      'steer the container engine',
    ],
  ])('that %s is noticed', (_, [from, to], fault) => {
    const changed = text.replace(from, () => to);
    expect(changed).not.toBe(text);
    expect(checkCompose(changed, { path })).toContainEqual(expect.stringContaining(fault));
  });
});
