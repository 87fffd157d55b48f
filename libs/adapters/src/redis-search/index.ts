/** The history of prompts in a Redis with its query engine (Redis 8, or Redis Stack), shared by several sidecars. */
export {
  type RedisHistoryCounts,
  RedisPromptHistory,
  type RedisPromptHistoryOptions,
  type SearchConnection,
} from './redis-prompt-history.js';
