/** Whether a reverse proxy in front and the settings fit. If not, all seems well, and nobody is told from anybody by address. */
import type { IncomingHttpHeaders } from 'node:http';
import { isForwarded } from '../forwarded-host.js';

const TOGETHER = "wrong logins of all people count as one person's, so that anybody can keep the others out";

/** @returns words for the log; null: they fit */
export function proxyMisfit(headers: IncomingHttpHeaders, trustProxy: boolean): string | null {
  if (!trustProxy && isForwarded(headers))
    return `a login came through a reverse proxy whose word is not taken: ${TOGETHER}. Set OBSERVATORY_TRUST_PROXY=1 if nobody but this proxy can reach the port`;
  if (trustProxy && headers['x-forwarded-for'] === undefined)
    return `OBSERVATORY_TRUST_PROXY is set, but a login came without X-Forwarded-For: ${TOGETHER}. Let the reverse proxy set it to its client's address`;
  return null;
}
