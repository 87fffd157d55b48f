import { LIMITS } from '#contracts';

/** Bounds of the readers. An answer that reaches one goes on to the client unhurt; only our reading of it is cut. */
export const DIALECT_LIMITS = {
  /**
   * Of a request, an answer, an event of a stream, or an element of a streamed JSON array. Schemas of tools nest deepest, and
   * stay far below. A conversation that fills the largest context window holds a tenth of these values; so many empty
   * messages take the guards more than a second. An answer or a part of one that passes a bound is skipped.
   */
  json: { depthMax: 256, valuesMax: 500_000, namesMax: LIMITS.jsonNamesMax },
  /** An event, or an element, of no more than this is parsed without a look at those bounds: some milliseconds at worst. */
  shortCharsMax: 16 * 1024,
  /**
   * One line of an event stream, the `data:` lines of one event together, or one element of a streamed JSON array.
   * What is longer is skipped, and counted. Generous, because the last event of a stream may repeat all of it.
   */
  eventCharsMax: 8 * 1024 * 1024,
  /** The same for a line that has not ended: no fewer bytes than the characters above can take. */
  eventBytesMax: 24 * 1024 * 1024,
  /** Text and tool calls, with their names and ids, that one answer keeps of a stream. */
  answerCharsMax: 4 * 1024 * 1024,
  /** Of thoughts; a hundred times those that are seen. A longer one is not kept. */
  signatureCharsMax: 64 * 1024,
  /** Events of one stream that look like JSON and are none: each costs the parser an error. No event behind them is read. */
  brokenEventsMax: 100,
  /** Tool calls that one answer keeps. */
  toolCallsMax: 512,
  /** An attachment longer than this is digested from samples. */
  digestWholeCharsMax: 32 * 1024,
  /** An assistant text at the very end of a request and no longer than this is a prefill, not the model's word. */
  prefillCharsMax: 256,
} as const;
