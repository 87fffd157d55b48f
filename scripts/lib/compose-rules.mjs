/** What must hold for the compose file: everything named exists, everything is hardened, nothing is open to the world. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { imageFault, volumesOf } from './docker-rules.mjs';
import { parseDockerfile } from './dockerfile.mjs';

const names = z.array(z.string()).default([]);
const service = z.strictObject({
  image: z.string().optional(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  user: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.array(z.strictObject({ path: z.string(), required: z.boolean() })).default([]),
  ports: names,
  volumes: names,
  tmpfs: names,
  networks: names,
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_healthy', 'service_started']) }))
    .default({}),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()).min(2),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
      start_period: z.string(),
    })
    .optional(),
  restart: z.string().optional(),
  read_only: z.boolean().default(false),
  cap_drop: names,
  security_opt: names,
  logging: z.unknown(),
  stop_grace_period: z.string().optional(),
});
const composeSchema = z.looseObject({
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().default(false) })).default({}),
  volumes: z.record(z.string(), z.strictObject({})).default({}),
});

/** @typedef {z.infer<typeof service>} Service */
/** @typedef {z.infer<typeof composeSchema>} Compose */
/** @typedef {{ source: string, target: string, isNamed: boolean }} Mount */

/** A member that this page does not know is refused: what nobody checks should not be there. @param {string} text @returns {{ compose: Compose | null, faults: string[] }} */
function parseCompose(text) {
  const document = parseDocument(text, { merge: true, uniqueKeys: true });
  if (document.errors.length > 0)
    return { compose: null, faults: document.errors.map(({ message }) => message) };
  const parsed = composeSchema.safeParse(document.toJS());
  return parsed.success
    ? { compose: parsed.data, faults: [] }
    : {
        compose: null,
        faults: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
      };
}

/**
 * @param {string} text
 * @param {{ path: string }} options path of the file, for what it refers to
 * @returns {string[]}
 */
export function checkCompose(text, { path }) {
  const { compose, faults } = parseCompose(text);
  if (compose === null) return faults;
  const folder = dirname(path);
  for (const [name, one] of Object.entries(compose.services)) {
    const found = [
      ...hardeningFaults(one),
      ...openingFaults(one),
      ...imageFaults(one, folder),
      ...referenceFaults(one, compose, folder),
    ];
    faults.push(...found.map((fault) => `${name}: ${fault}`));
  }
  faults.push(...unusedFaults(compose), ...addressFaults(compose), ...socketFaults(compose, folder));
  return faults;
}

/** @param {Service} one */
function hardeningFaults({ read_only, cap_drop, security_opt, tmpfs, restart }) {
  const faults = [];
  if (!read_only) faults.push('its root can be written to: read_only is not true');
  if (!cap_drop.includes('ALL')) faults.push('it keeps capabilities: cap_drop is not ALL');
  if (!security_opt.includes('no-new-privileges:true'))
    faults.push('it may gain privileges: no-new-privileges is missing');
  if (!tmpfs.some((mount) => /^\/tmp(:|$)/.test(mount))) faults.push('it has no /tmp: its root is read-only');
  if (restart === undefined) faults.push('nothing starts it again: restart is missing');
  return faults;
}

/** @param {Service} one */
function openingFaults({ ports, volumes, environment }) {
  const secret = Object.entries(environment).filter(
    ([name, value]) =>
      (/(KEY|TOKEN|SECRET|PASSWORD)$/.test(name) && value !== '') || /:\/\/[^/@]*:[^/@]+@/.test(value),
  );
  return [
    ...ports
      .filter((port) => !/^127\.0\.0\.1:\d+:\d+$/.test(port))
      .map((port) => `port ${port} is open to others than this machine`),
    ...volumes
      .filter((volume) => volume.includes('docker.sock'))
      .map(() => 'it could steer the container engine'),
    ...secret.map(([name]) => `${name} holds a secret in a file that is committed`),
  ];
}

/** @param {Service} one @param {string} folder */
function imageFaults(one, folder) {
  const faults = [];
  if (one.build === undefined) {
    const fault = one.image === undefined ? 'it has neither image nor build' : imageFault(one.image);
    if (fault !== null) faults.push(fault);
    if (one.healthcheck === undefined) faults.push('it has no healthcheck');
    if (one.user === undefined || /^0?(:|$)|^root/.test(one.user)) faults.push('it runs as root');
    return faults;
  }
  const context = resolve(folder, one.build.context);
  const dockerfile = join(context, one.build.dockerfile);
  if (one.image !== undefined && /:latest$|^[^:]+$/.test(one.image)) faults.push(`${one.image} is "latest"`);
  if (!existsSync(dockerfile)) return [...faults, `${one.build.dockerfile} does not exist in its context`];
  const last = runtimeStage(dockerfile);
  if (one.healthcheck === undefined && !last?.instructions.some(({ name }) => name === 'HEALTHCHECK'))
    faults.push('neither it nor its image has a healthcheck');
  const targets = mountsOf(one).map(({ target }) => target);
  for (const volume of last === undefined ? [] : volumesOf(last)) {
    if (!targets.includes(volume))
      faults.push(`its image writes to ${volume}, which is mounted from nowhere`);
  }
  return faults;
}

/** @param {string} dockerfile */
const runtimeStage = (dockerfile) => parseDockerfile(readFileSync(dockerfile, 'utf8')).stages.at(-1);

/** @param {Service} one @param {Compose} compose @param {string} folder */
function referenceFaults(one, compose, folder) {
  const faults = [];
  for (const { source, isNamed } of mountsOf(one)) {
    if (isNamed && compose.volumes[source] === undefined) faults.push(`volume ${source} is not declared`);
    if (!isNamed && !existsSync(resolve(folder, source))) faults.push(`${source} does not exist`);
  }
  for (const network of one.networks) {
    if (compose.networks[network] === undefined) faults.push(`network ${network} is not declared`);
  }
  if (one.networks.length === 0)
    faults.push('it is in the network that everything is in: networks is missing');
  for (const { path, required } of one.env_file) {
    if (required && !existsSync(resolve(folder, path))) faults.push(`${path} does not exist`);
  }
  for (const [other, { condition }] of Object.entries(one.depends_on)) {
    const needed = compose.services[other];
    if (needed === undefined) faults.push(`it depends on ${other}, which there is not`);
    else if (
      condition === 'service_healthy' &&
      needed.healthcheck === undefined &&
      needed.build === undefined
    )
      faults.push(`it waits for the health of ${other}, which has no healthcheck`);
  }
  return faults;
}

/** @param {Compose} compose */
function unusedFaults({ services, volumes, networks }) {
  const all = Object.values(services);
  const mounted = new Set(all.flatMap((one) => mountsOf(one).map(({ source }) => source)));
  const joined = new Set(all.flatMap((one) => one.networks));
  return [
    ...Object.keys(volumes)
      .filter((name) => !mounted.has(name))
      .map((name) => `volume ${name} is used by nobody`),
    ...Object.keys(networks)
      .filter((name) => !joined.has(name))
      .map((name) => `network ${name} is used by nobody`),
  ];
}

/** Hosts in URLs are services in the same network. @param {Compose} compose */
function addressFaults({ services }) {
  return Object.entries(services).flatMap(([name, one]) =>
    Object.entries(one.environment).flatMap(([variable, value]) => {
      if (!URL.canParse(value) || !/^(redis|rediss|https?):$/.test(new URL(value).protocol)) return [];
      const host = new URL(value).hostname;
      const other = services[host];
      if (other === undefined) return [`${name}: ${variable} names ${host}, which is no service`];
      return one.networks.some((network) => other.networks.includes(network))
        ? []
        : [`${name}: ${variable} names ${host}, and no network has both`];
    }),
  );
}

/** Both ends of the Unix socket lie in one volume, and belong to one user. @param {Compose} compose @param {string} folder */
function socketFaults({ services }, folder) {
  const server = Object.values(services).find(({ environment }) => environment.UDS_PATH);
  const client = Object.values(services).find(({ environment }) => environment.LOOP_EMBEDDING_SIDECAR_UDS);
  if (server === undefined || client === undefined) return ['no gateway and sidecar share a socket'];
  const faults = [];
  const place = (/** @type {Service} */ one, /** @type {string} */ path) => {
    const mount = mountsOf(one).find(({ target }) => target === posix.dirname(path));
    return mount?.isNamed ? `${mount.source}/${posix.basename(path)}` : null;
  };
  const [served, asked] = [
    place(server, server.environment.UDS_PATH ?? ''),
    place(client, client.environment.LOOP_EMBEDDING_SIDECAR_UDS ?? ''),
  ];
  if (served === null || asked === null || served !== asked)
    faults.push(
      `the sidecar's socket is at ${served ?? 'no volume'}, the gateway looks at ${asked ?? 'no volume'}`,
    );
  const users = [server, client].map((one) => userOf(one, folder));
  if (users[0] !== users[1])
    faults.push(`the socket is its owner's alone, and the two run as ${users.join(' and ')}`);
  return faults;
}

/** @param {Service} one @param {string} folder */
function userOf(one, folder) {
  if (one.user !== undefined || one.build === undefined) return one.user ?? null;
  const dockerfile = join(resolve(folder, one.build.context), one.build.dockerfile);
  if (!existsSync(dockerfile)) return null;
  return runtimeStage(dockerfile)?.instructions.findLast(({ name }) => name === 'USER')?.text ?? null;
}

/** @param {Service} one @returns {Mount[]} */
const mountsOf = ({ volumes }) =>
  volumes.map((volume) => {
    const [source = '', target = ''] = volume.split(':');
    return { source, target, isNamed: !/^[./~]/.test(source) };
  });
