/**
 * What guards and detectors need to know of an LLM request and its answer, in no vendor's vocabulary. Plain types,
 * not schemas: llm-dialects reads them from whatever a client sent, tolerantly, and never throws on odd input.
 */
import type { Usage } from './llm-call.js';

/** A call the model made. */
export interface LlmToolCall {
  /** Vendor's id that its result will name; null where there is none (Gemini). */
  id: string | null;
  name: string;
  /** Arguments as JSON text, as the model wrote them; "" for none. */
  arguments: string;
}

/** What a tool call came back with. */
export interface LlmToolResult {
  /** The call it answers; null when the request does not hold it. */
  call: LlmToolCall | null;
  /** All text of the result, parts joined by a line feed; other content as its JSON text. */
  text: string;
  /** The client marked it as an error (`is_error`, Gemini's `response.error`, ...), or its text says so where there is no such mark. */
  failed: boolean;
}

/** What a request brings that comes after the model's last message: the only part of it that is new. */
export interface NewestTurn {
  /** Text parts of the user messages in it, joined by a line feed; "" when it brings none. */
  user_text: string;
  tool_results: LlmToolResult[];
  /**
   * What a tool came back with, where model and client write calls and results as text. `user_text` is then that message, in which no
   * person speaks, or "" where it stands behind words of the model's, and there are no `tool_results`. Absent: there is none.
   */
  observation?: LlmToolResult;
  /** Images, audio and files in it, by a digest of their content or their URL; they are content too. */
  attachment_digests: string[];
  /**
   * The last turn and the model's words behind it, as JSON, of a request that ends in them and so brings nothing new: an
   * answer to be gone on with, or a prefill too long to be known as one. Absent: it ends otherwise.
   */
  continued?: string;
  /** Text of the user messages in that turn which hold nothing else. New behind a prefill, but not where an answer is gone on with. */
  continued_text?: string;
}

export interface LlmRequest {
  model: string | null;
  stream: boolean;
  /**
   * System or developer text with which the conversation began; "" for none. What a client tells the model on the way is none
   * of it: the conversation would be another one from then on.
   */
  system_text: string;
  /** Without what a client puts in front about its surroundings, where it asks anything. */
  first_user_text: string;
  /** For whom the agent asks, where the client says so (`user`, `safety_identifier`, `prompt_cache_key`, `metadata.user_id`). */
  end_user?: string | null;
  /** Id of the vendor's earlier answer that this request goes on from; it brings no earlier messages itself. */
  continues?: string | null;
  /** The vendor may keep the answer, so that a later request `continues` it. */
  is_kept?: boolean;
  /** Id of the conversation that the vendor keeps, which the request adds to. */
  conversation?: string | null;
  newest: NewestTurn;
  /** Upper bound the caller set on output tokens; null = none. */
  output_tokens_max: number | null;
  /** Answers that are written at once (`n`, `best_of`, `candidateCount`); absent where the vendor gives one only. */
  choice_count?: number;
  /** Messages in the request, of all roles. */
  message_count: number;
  /** The call it demands of the only tool is its answer: no result will come. Absent: no. */
  answers_in_tool?: boolean;
  /** It has the vendor's prompt cache prepared, and no answer written. Absent: no. */
  only_warms?: boolean;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'filtered' | 'other';

export interface LlmAnswer {
  model: string | null;
  /** Text of the first choice, refusals included, reasoning not. */
  text: string;
  tool_calls: LlmToolCall[];
  /** What the vendor wrote beside these, which is not kept and costs all the same: further choices, reasoning it shows. Absent: none. */
  chars_beside?: number;
  /** By which the vendor knows the first thoughts in it again, and all that came before them. Absent: none. */
  thinking_signature?: string;
  /** Null: unfinished, or the vendor said nothing. */
  finish: FinishReason | null;
  usage: Usage | null;
  /** Tier of the vendor's service that has a price of its own: `flex`, `priority`, ... Absent: the standard one, or it did not say. */
  service_tier?: string;
  /** The vendor sent an error in place of, or in the middle of, an answer. */
  failed: boolean;
  /** The vendor's id of the answer. */
  answer_id: string | null;
  /**
   * `text` and `tool_calls`, in this order, are all there is of a whole answer: written anew from them it loses
   * nothing but ids, times and the vendor's book-keeping. Strict: anything unknown makes it false.
   */
  lossless: boolean;
}
