/** Stands where nobody needs embeddings: never ready, answers nothing. */
import { type EmbeddingService, SidecarFailure } from '#contracts';

const absent = (): Promise<never> =>
  Promise.reject(new SidecarFailure('unavailable', 'this gateway runs without an embedding sidecar'));

export const ABSENT_EMBEDDING: EmbeddingService = {
  isReady: false,
  checkLoop: absent,
  embed: absent,
  describe: absent,
  close: async () => {},
};
