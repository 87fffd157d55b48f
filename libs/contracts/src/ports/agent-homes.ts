/** Which gateway the calls of an agent reach, of several that share one Redis. */
import type { AgentScope } from '../identity.js';

export interface AgentHomes {
  /**
   * Says that calls of these agents reach this gateway.
   *
   * @returns for each, whether another gateway said so since this one last did; false where the shared store does not answer.
   *   Never rejects
   */
  claim(scopes: readonly AgentScope[]): Promise<boolean[]>;
}
