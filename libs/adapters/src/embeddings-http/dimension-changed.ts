/** The server has another model behind the same name: open it anew, or do without. */
import { EmbeddingFailure } from '#contracts/embedding';

export class DimensionChanged extends EmbeddingFailure {
  constructor(message: string) {
    super('failed', message);
  }
}
