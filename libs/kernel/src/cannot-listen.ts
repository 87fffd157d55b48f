/** What the system says against listening, as the setting that is to be changed. */
import { ConfigError } from './config-error.js';

export interface ListenPlace {
  /** Name or address. */
  host: string;
  port: number;
}

/** By what name somebody sets it, and a port that would do. */
export interface ListenSettings {
  hostVariable: string;
  portVariable: string;
  freePort: number;
}

/** The error itself where neither setting is at fault. */
export function cannotListen(
  error: unknown,
  { host, port }: ListenPlace,
  { hostVariable, portVariable, freePort }: ListenSettings,
): unknown {
  const ofPort = (remedy: string) => new ConfigError(portVariable, String(port), remedy);
  switch ((error as NodeJS.ErrnoException | null)?.code) {
    case 'EADDRINUSE':
      return ofPort(`another program listens at ${host} there; end it, or choose another port.`);
    case 'EACCES':
      return ofPort(`this user may not listen there; choose a port from 1024 up, such as ${freePort}.`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return new ConfigError(
        hostVariable,
        host,
        'this machine has no such name or address; give 127.0.0.1 for itself alone, 0.0.0.0 for whoever reaches it.',
      );
    default:
      return error;
  }
}
