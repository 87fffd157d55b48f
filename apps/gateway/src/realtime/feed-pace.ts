/**
 * When what changed leaves for a feed: with each frame where somebody of the tenant looks at anything, and once a second where
 * nobody does. A row that changes with every message is then copied a tenth as often, for nobody.
 */
import type { LiveAudience } from '#contracts';

const UNWATCHED_FRAMES = 10;

export class FeedPace {
  #frame = 0;

  constructor(private readonly audience: Pick<LiveAudience, 'isWatched'>) {}

  /** To be called once with each frame, before it asks. */
  nextFrame(): void {
    this.#frame += 1;
  }

  isDue(tenantId: string): boolean {
    return this.#frame % UNWATCHED_FRAMES === 0 || this.audience.isWatched(tenantId);
  }
}
