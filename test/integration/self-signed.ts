/** A certificate of a day, for servers that speak TLS. Takes the openssl of the machine. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithFile } from './end-with-file.js';

export const isOpensslMissing = spawnSync('openssl', ['version']).error !== undefined;
if (isOpensslMissing) {
  if (process.env.CI === 'true') throw new Error('openssl is not installed; in CI its tests must run.');
  console.warn('openssl is not installed; the tests that need it are skipped.');
}

export interface SelfSigned {
  key: Buffer;
  cert: Buffer;
  /** The certificate, for whoever is to trust it; there until the spec's file is over. */
  file: string;
}

/** @param altName whom it is for: `DNS:localhost`, `IP:127.0.0.1` */
export function selfSigned(altName: string): SelfSigned {
  const folder = mkdtempSync(join(tmpdir(), 'observatory-tls-'));
  endWithFile(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'certificate.pem');
  const keyFile = join(folder, 'key.pem');
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-keyout', keyFile, '-out', file, '-days', '1', '-subj', '/CN=observatory-test'],
    ...['-addext', `subjectAltName=${altName}`],
  ]);
  if (made.status !== 0) throw new Error(`no certificate: ${made.stderr}`);
  return { key: readFileSync(keyFile), cert: readFileSync(file), file };
}
