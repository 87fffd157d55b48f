/** What an HTTP embedder is told, and its bounds. Nothing here is read from the environment. */

export interface HttpEmbedderSettings {
  /** As the vendors' SDKs take it, with its version path; see `embeddingsUrl`. */
  baseUrl: string;
  /** As the server calls it, such as `bge-m3`. Names the vectors. */
  model: string;
  /** Sent as a bearer token; null: no header. */
  apiKey?: string | null | undefined;
  /** What the model's card says; longer text is cut before it is sent. */
  tokensMax?: number | undefined;
  /** For one attempt, from connecting to the last byte of the answer. */
  attemptTimeoutMs?: number | undefined;
  /** The first one included. */
  attemptsMax?: number | undefined;
  /** Texts of one request. Some servers refuse more than 32. */
  batchTextsMax?: number | undefined;
  /** Texts accepted and not yet computed; one more is `busy`. */
  queueCountMax?: number | undefined;
  /** Told of each text, when it is asked for, how many milliseconds it has waited for that. */
  onWaited?: ((ms: number) => void) | undefined;
  /** Told of each answer whose vectors have another dimension than the first ones had. */
  onDimensionChanged?: ((detail: string) => void) | undefined;
}

const HTTP_EMBEDDER_DEFAULTS = {
  tokensMax: 8_192,
  attemptTimeoutMs: 10_000,
  attemptsMax: 3,
  batchTextsMax: 32,
  queueCountMax: 2_048,
} as const;

type Defaults = typeof HTTP_EMBEDDER_DEFAULTS;
export type CompleteSettings = HttpEmbedderSettings & {
  [Name in keyof Defaults]: NonNullable<HttpEmbedderSettings[Name]>;
};

/** Members that are present but undefined take their defaults too. @throws RangeError naming the setting */
export function completeSettings(settings: HttpEmbedderSettings): CompleteSettings {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const complete = { ...HTTP_EMBEDDER_DEFAULTS, ...Object.fromEntries(given) } as CompleteSettings;
  for (const name of [
    'tokensMax',
    'attemptTimeoutMs',
    'attemptsMax',
    'batchTextsMax',
    'queueCountMax',
  ] as const) {
    if (!Number.isInteger(complete[name]) || complete[name] < 1)
      throw new RangeError(`${name} of an HTTP embedder is a whole number from 1`);
  }
  if (complete.model.trim() === '') throw new RangeError('model of an HTTP embedder is empty');
  return complete;
}

export const HTTP_EMBEDDER_LIMITS = {
  /** Requests under way; meanwhile texts gather for the next. */
  requestsMax: 2,
  /** UTF-8 bytes of the texts of one request; one text alone may have more. */
  batchBytesMax: 1_024 * 1_024,
  /** UTF-8 bytes of the texts accepted and not yet computed; past it one more is `busy`. */
  queuedBytesMax: 16 * 1_024 * 1_024,
  /** English has about four to a token. The cut is made here, so that a long text costs no more than the model reads. */
  charactersPerToken: 4,
  /** A text refused on its own is tried again at a quarter of its length, this many times. */
  cutsMax: 2,
  /** No text is cut below this. */
  cutCharactersMin: 256,
  answerBytesMax: 32 * 1_024 * 1_024,
  dimensionMax: 16_384,
  connectTimeoutMs: 5_000,
  /** Before the second attempt; twice that before the third, and so on, each between half and all of it. */
  backoffMs: 200,
  backoffMsMax: 5_000,
  /** A server that wants to be left alone for longer is not waited for: its texts fail. */
  retryAfterMsMax: 30_000,
} as const;
