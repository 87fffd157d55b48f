/**
 * Where a model's files come from: a folder, or a host that serves them over HTTP (the publisher's or a mirror). A source
 * opens one file at an offset; resuming, checking and retrying are the caller's.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { EnvHttpProxyAgent, fetch } from 'undici';
import { isHttpUrl } from './http-url.mjs';
import { PullError, TransferError } from './pull-error.mjs';

/** Silence for longer than this ends an exchange. */
const IDLE_MS = 30_000;

/**
 * @typedef {object} OpenedFile
 * @property {number} offset where the bytes begin; 0 although more was asked for: the host can't resume
 * @property {number | null} totalBytes of the whole file; null: not said
 * @property {AsyncIterable<Uint8Array>} chunks rejects with TransferError when the host breaks off
 * @property {() => void} cancel the rest is not wanted; may be called at any time
 */
/**
 * @typedef {object} ModelSource
 * @property {string} name for people; no credentials
 * @property {(file: import('./model-manifest.mjs').ModelFile, offset: number, signal: AbortSignal) => Promise<OpenedFile>} open
 *   rejects with TransferError (worth another try), RangeRefused or PullError
 */

/** The host has nothing from that offset on. */
export class RangeRefused extends Error {}

/**
 * @param {import('./model-manifest.mjs').ModelManifest} manifest
 * @param {string | undefined} from folder or URL; undefined: the publisher's
 * @param {{ idleMs?: number }} [options]
 * @returns {ModelSource}
 * @throws PullError
 */
export function openSource(manifest, from, { idleMs = IDLE_MS } = {}) {
  if (from !== undefined && !/^[a-z][a-z+.-]+:\/\//i.test(from)) return folderSource(from);
  const base = from ?? manifest.download_base;
  if (base === undefined)
    throw new PullError('usage', `${manifest.model_id} names no place to fetch it from; give --from.`);
  if (!isHttpUrl(base))
    throw new PullError('usage', '--from (or MODELS_MIRROR) takes a folder, or a URL with http or https.');
  return httpSource(new URL(base.endsWith('/') ? base : `${base}/`), {
    idleMs,
    isMirror: from !== undefined,
  });
}

/** @param {string} path @returns {ModelSource} */
function folderSource(path) {
  const folder = resolve(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new PullError('missing', `${folder} is no folder.`);
  return {
    name: folder,
    open: async (file, offset) => {
      const names = [file.name, basename(file.url_path ?? file.name), file.url_path ?? file.name];
      const found = names.map((name) => join(folder, name)).find((candidate) => existsSync(candidate));
      if (found === undefined)
        throw new PullError('missing', `${folder} holds no ${[...new Set(names.slice(0, 2))].join(' or ')}.`);
      const { size } = statSync(found);
      if (offset > size) throw new RangeRefused();
      const chunks = createReadStream(found, { start: offset });
      return { offset, totalBytes: size, chunks, cancel: () => chunks.destroy() };
    },
  };
}

/** @param {URL} base @param {{ idleMs: number, isMirror: boolean }} options @returns {ModelSource} */
function httpSource(base, { idleMs, isMirror }) {
  const dispatcher = new EnvHttpProxyAgent();
  const headers = new Headers({ 'accept-encoding': 'identity', 'user-agent': 'observatory-models-pull' });
  if (base.username !== '' || base.password !== '') {
    const credentials = `${decodeURIComponent(base.username)}:${decodeURIComponent(base.password)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
    base.username = '';
    base.password = '';
  }

  /** @param {URL} url @param {number} offset @param {AbortSignal} signal */
  const ask = async (url, offset, signal) => {
    const idle = new IdleWatch(idleMs, signal);
    try {
      const response = await fetch(url, {
        dispatcher,
        signal: idle.signal,
        headers: { ...Object.fromEntries(headers), ...(offset > 0 ? { range: `bytes=${offset}-` } : {}) },
      });
      return { response, idle };
    } catch (error) {
      idle.end();
      if (signal.aborted) throw signal.reason;
      throw new TransferError(idle.isOver ? `${url.host} is silent` : `${url.host}: ${wordsFor(error)}`, {
        unreachable: true,
      });
    }
  };

  return {
    name: `${base.origin}${base.pathname}`,
    open: async (file, offset, signal) => {
      const path = file.url_path ?? file.name;
      // A mirror may be a plain folder behind a web server.
      const paths = isMirror ? [path, file.name, basename(path)] : [path];
      for (const candidate of new Set(paths)) {
        const url = new URL(candidate, base);
        const { response, idle } = await ask(url, offset, signal);
        if (response.status === 200 || response.status === 206)
          return opened(response, offset, idle, signal, url);
        idle.end();
        await response.body?.cancel().catch(() => {});
        if (response.status === 404 || response.status === 410) continue;
        throw refusal(response, url, offset);
      }
      const remedy = isMirror
        ? 'Check --from (or MODELS_MIRROR): below it, files are looked for as the publisher lays them out, then by name.'
        : 'The publisher may have moved it; name a mirror or a folder with --from.';
      throw new PullError('missing', `${base.origin} has no ${path} (404). ${remedy}`);
    },
  };
}

/**
 * @param {import('undici').Response} response @param {number} asked @param {IdleWatch} idle @param {AbortSignal} signal @param {URL} url
 * @returns {OpenedFile}
 */
function opened(response, asked, idle, signal, url) {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
  const length = response.headers.get('content-length');
  const isPart = response.status === 206;
  const offset = isPart && range ? Number(range[1]) : 0;
  if (isPart && offset !== asked) {
    idle.end();
    throw new RangeRefused();
  }
  const total = isPart ? range?.[2] : length;
  async function* chunks() {
    try {
      for await (const chunk of response.body ?? []) {
        idle.touch();
        yield chunk;
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new TransferError(
        `${url.host}: ${idle.isOver ? 'it fell silent' : wordsFor(error, 'the connection broke off')}`,
      );
    }
  }
  return {
    offset,
    totalBytes: total && /^\d+$/.test(total) ? Number(total) : null,
    chunks: chunks(),
    cancel: () => idle.cancel(),
  };
}

/** @param {import('undici').Response} response @param {URL} url @param {number} offset @returns {Error} */
function refusal({ status, headers }, url, offset) {
  if (status === 416 && offset > 0) return new RangeRefused();
  if (status === 401 || status === 403)
    return new PullError(
      'failed',
      `${url.host} does not give it out (${status}). Name another place with --from.`,
    );
  if (status === 429 || status === 408 || status >= 500) {
    const seconds = headers.get('retry-after') ?? '';
    return new TransferError(`${url.host} answers ${status}`, {
      retryAfterMs: /^\d{1,4}$/.test(seconds) ? Number(seconds) * 1_000 : null,
    });
  }
  return new PullError('failed', `${url.host} answers ${status}. Name another place with --from.`);
}

/** Aborts when nothing has been heard for a while, or when the caller does. */
class IdleWatch {
  #controller = new AbortController();
  #idleMs;
  #caller;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  isOver = false;

  /** @param {number} idleMs @param {AbortSignal} caller */
  constructor(idleMs, caller) {
    this.#idleMs = idleMs;
    this.#caller = caller;
    caller.addEventListener('abort', this.#stop);
    if (caller.aborted) this.#stop();
    this.touch();
  }

  get signal() {
    return this.#controller.signal;
  }

  touch() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#stop();
    }, this.#idleMs);
  }

  end() {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#stop);
  }

  /** Ends the exchange too. */
  cancel() {
    this.end();
    this.#stop();
  }

  #stop = () => this.#controller.abort();
}

/** @type {Record<string, string>} */
const WORDS = {
  ENOTFOUND: 'the host name does not exist, or there is no network',
  EAI_AGAIN: 'the host name could not be resolved: is there a network?',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENETUNREACH: 'there is no network',
  EHOSTUNREACH: 'the host is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection broke off',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its TLS certificate is not trusted here (NODE_EXTRA_CA_CERTS adds an authority)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its TLS certificate is not trusted here (NODE_EXTRA_CA_CERTS adds an authority)',
};

/** @param {unknown} error @param {string} [fallback] @returns {string} */
function wordsFor(error, fallback = 'the connection failed') {
  const { code, cause, errors } = /** @type {{ code?: unknown, cause?: unknown, errors?: unknown[] }} */ (
    error ?? {}
  );
  if (typeof code === 'string') return WORDS[code] ?? `${fallback} (${code})`;
  if (Array.isArray(errors) && errors.length > 0) return wordsFor(errors[0], fallback);
  return cause === undefined || cause === null ? fallback : wordsFor(cause, fallback);
}
