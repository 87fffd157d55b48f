/** Topics that are a list of the latest events, newest last, bounded. */
import type { GatewayStats, LlmCall, StepView, ViolationEvent } from '#contracts';
import type { TopicMerge } from '../topic-merge';

/** Events of one feed kept in memory. */
const FEED_COUNT_MAX = 2_000;
/** Seconds of gateway statistics kept. */
const STATS_COUNT_MAX = 120;

function feedMerge<E>(countMax: number): TopicMerge<readonly E[], E[], E> {
  return {
    start: (snapshot) => snapshot,
    apply(data, events) {
      const next = [...data, ...events];
      return next.length > countMax ? next.slice(-countMax) : next;
    },
  };
}

export const messagesMerge = feedMerge<StepView>(FEED_COUNT_MAX);
export const violationsMerge = feedMerge<ViolationEvent>(FEED_COUNT_MAX);
export const callsMerge = feedMerge<LlmCall>(FEED_COUNT_MAX);
export const statsMerge = feedMerge<GatewayStats>(STATS_COUNT_MAX);
