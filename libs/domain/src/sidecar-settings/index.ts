export { parseConfig, type SidecarConfig } from './config.js';
export {
  CONFIG_VARIABLES,
  type Environment,
  readEnvironment,
  SECRET_VARIABLES,
  SETTING_VARIABLES,
} from './env.js';
export { parseSecrets, SidecarSecrets } from './secrets.js';
