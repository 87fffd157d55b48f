import type { GatewayConfig } from './config.js';
import { CONFIG_VARIABLES } from './env.js';

/** For the person who started the server: what keeps the store from being of use, and where it is. */
export const storeTrouble = (reason: string, { dataDir }: Pick<GatewayConfig, 'dataDir'>): Error =>
  new Error(`${reason}. ${CONFIG_VARIABLES.dataDir}, here ${dataDir}, says where the store is.`);
