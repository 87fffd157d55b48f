/** Changed rows on their way to those who look: on `gateway:sessions` and the session's own topic, one per session and 100 ms. */
import {
  type LiveAudience,
  type LivePublisher,
  type SessionKey,
  type SessionView,
  sessionTopic,
  splitSessionKey,
  TOPICS,
} from '#contracts';
import { FeedPace } from '../realtime/feed-pace.js';

export class SessionFeed {
  readonly #live: LivePublisher;
  readonly #rowOf: (key: SessionKey) => SessionView | undefined;
  readonly #pace: FeedPace;
  /** Changed since they were last published. */
  readonly #changed = new Set<SessionKey>();

  /** @param rowOf undefined: it has left memory, and what changed with it */
  constructor(
    live: LivePublisher & Pick<LiveAudience, 'isWatched'>,
    rowOf: (key: SessionKey) => SessionView | undefined,
  ) {
    this.#live = live;
    this.#rowOf = rowOf;
    this.#pace = new FeedPace(live);
  }

  /** Hot path. */
  changed(key: SessionKey): void {
    this.#changed.add(key);
  }

  /** Retention has deleted it. @param view undefined: it had left memory, and the list knows it no more */
  deleted(key: SessionKey, view: SessionView | undefined): void {
    const { tenantId, sessionId } = splitSessionKey(key);
    if (view !== undefined) this.#live.publish(tenantId, TOPICS.sessions, { ...view, is_deleted: true });
    this.#live.publish(tenantId, sessionTopic(sessionId), { kind: 'deleted' });
  }

  /** What changed so far is no news. */
  clear(): void {
    this.#changed.clear();
  }

  /** One frame. */
  publish(): void {
    this.#pace.nextFrame();
    for (const key of this.#changed) {
      const { tenantId, sessionId } = splitSessionKey(key);
      if (!this.#pace.isDue(tenantId)) continue;
      this.#changed.delete(key);
      const view = this.#rowOf(key);
      if (view === undefined) continue;
      const row = { ...view };
      this.#live.publish(tenantId, TOPICS.sessions, row);
      this.#live.publish(tenantId, sessionTopic(sessionId), { kind: 'session', session: row });
    }
  }
}
