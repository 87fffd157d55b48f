/**
 * One call on its way through the pipeline: what came in, what the steps found out, what became of it. Steps write
 * what they are named for and read what is before them; nothing here decides.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import type {
  AgentPrincipal,
  AgentScope,
  CallCache,
  CallDecision,
  CallStep,
  DocumentChange,
  ErrorCode,
  LlmAnswer,
  LlmRequest,
  SessionKey,
} from '#contracts';
import {
  type Dialect,
  mediaExcessBytes,
  type OwnAnswer,
  questionIn,
  type ToldWords,
  type UnreadRequest,
} from '#domain/llm-dialects';
import { type BytePieces, ownText, parseJsonExactly } from '#kernel';
import type { CacheTicket } from '../llm-cache/cache-ticket.js';
import type { AnswerRoom } from './answers/answer-room.js';
import type { UnsettledAnswer } from './calls/unsettled-answers.js';
import type { TakenLimits } from './limits/taken-limits.js';
import type { ProxyTarget } from './proxy-path.js';
import type { UpstreamTarget } from './upstreams/upstream-directory.js';

/** Why a step answers in the upstream's place. */
export type Verdict =
  /** The vendor's error shape. */
  | {
      kind: 'refuse';
      decision: CallDecision;
      code: ErrorCode;
      detail?: string;
      /** Tells vendors' SDKs whether to try again; absent: their own rules. */
      shouldRetry?: boolean;
      retryAfterSeconds?: number;
    }
  /** A finished assistant message. */
  | { kind: 'message'; decision: CallDecision; text: string; detail: string }
  /** An answer given before, in the caller's dialect. */
  | { kind: 'replay'; decision: CallDecision; own: OwnAnswer; detail: string };

/** Has a body in memory, and says when no more. */
export interface BodyHolder {
  whenLetGo(then: () => void): void;
}

/** What is left of a request once its texts are let go. */
export interface RequestSummary
  extends Pick<LlmRequest, 'model' | 'stream' | 'output_tokens_max' | 'choice_count' | 'is_kept'> {
  /** How the newest question begins, "" if the turn is none; and the first one. */
  asked: string;
  askedFirst: string;
  /** The tool call it demands is its answer. */
  answersInTool: boolean;
  /** It has the vendor's prompt cache prepared, and asks for no answer. */
  onlyWarms: boolean;
  /** Of the body, what is no measure of its tokens. */
  mediaExcessBytes: number;
}

/** What a step's label is made of, and what tells whether a secret lies across its cut. */
const ASKED_CHARS_MAX = 800;
/** In a shorter body a picture is as small as a text. */
const MEDIA_BODY_BYTES_MIN = 16 * 1024;

const NONE: Readonly<Record<string, string>> = {};
const NO_STEPS: readonly CallStep[] = [];
const NO_WORDS: readonly string[] = [];

export class ProxyCall {
  readonly startedMs = performance.now();
  /** The client left before its answer was complete. */
  isGone = false;
  /** It left behind the last event of its stream, as SDKs do that wait for no end of the connection: it has its answer. */
  leftAtEnd = false;
  /** It is gone because the gateway shuts down: its agent has no part in it. */
  wasShutDown = false;
  /** Set by whoever must stop at once when the client leaves. */
  onGone: (() => void) | null = null;

  // ---- identify
  principal!: AgentPrincipal;
  agentId = '';
  /** Tenant and agent in one: what most of a call is counted by. */
  scope = '' as AgentScope;
  /** Null: the call belongs to no conversation. */
  sessionId: string | null = null;
  sessionKey: SessionKey | null = null;
  /** Nobody named the session: it is known by how the conversation began. */
  isSessionInferred = false;
  /** Digests of what this conversation asked before, where the vendor keeps it; of what this call asks, once it was looked at. */
  asked: readonly string[] = NO_WORDS;
  /** A client SDK's own retry. */
  isRetry = false;
  upstream!: UpstreamTarget;
  /** Below the upstream's base URL, encoded, without query: `/chat/completions`. */
  path = '';

  // ---- receive
  body: BytePieces | null = null;
  /** CRC-32 of a body that a dialect reads, by which its SDK's retry is known; 0 of any other. */
  bodyChecksum = 0;
  /** Of what all bodies together may take; also those of a body that was refused half-way, and of an answer held back. */
  bodyBytesTaken = 0;
  /** Whose the body still is though the call has ended: its bytes stay taken until then. Null for nearly all. */
  bodyHolder: BodyHolder | null = null;
  /** Of its answer, while it is read. Null before. */
  answerRoom: AnswerRoom | null = null;
  /** Null: a path of the upstream that is passed through unread. */
  dialect: Dialect | null = null;
  /** Null until the body was read, and on a path that is passed through unread. */
  summary: RequestSummary | null = null;
  /** On such a path what little is known of the request. */
  unread: UnreadRequest | null = null;
  /** What it fetches was begun by an earlier call, of which it is to tell what it took; null for nearly all. */
  unsettled: UnsettledAnswer | null = null;
  #json: unknown = null;
  #request: LlmRequest | null = null;

  // ---- guards
  /** Of its agent's limits, before the call was sent; null when it has none. */
  taken: TakenLimits | null = null;
  /** Of those of all agents together. */
  takenTogether: TakenLimits | null = null;
  /** Words for the model, put in front of its next answer. */
  injections: readonly string[] = NO_WORDS;
  /** Directives whose words are in `injections`: taken once the upstream has them. */
  takenDirectiveIds: readonly string[] = NO_WORDS;
  /** As they went into the request, where the vendor will ask for them again; null: they did not, or it will not. */
  toldWords: ToldWords | null = null;
  /** Extra headers of the answer, lower case. */
  answerHeaders: Readonly<Record<string, string>> = NONE;
  heldMs = 0;
  /** Of the kill switch; null when it did not look. */
  windowKey: string | null = null;
  killScore: number | null = null;
  /** The call's own place in its trace; null: it is in none. */
  traceParent: string | null = null;
  /** Whose trace it goes on; null for one that began here, or none. */
  parentSpanId: string | null = null;

  /** What the semantic loop compared with earlier prompts; null: nothing. */
  checkedPrompt: string | null = null;
  /** The embedding sidecar took all the time that it has for a call: this one is not kept waiting for it again. */
  isSidecarLate = false;
  /** What the cache noted for when the answer has ended; null: nothing. */
  cacheTicket: CacheTicket | null = null;
  /** What the cache gave in place of the upstream; null: nothing. */
  cache: CallCache | null = null;
  /** What the step that runs now found out, for the waterfall; null: nothing worth a word. */
  finding: string | null = null;

  // ---- forward
  /** The upstream has the request and has not failed it: what it does costs, whether or not anybody waits for the answer. */
  wasTakenUp = false;
  status = 0;
  decision: CallDecision = 'forwarded';
  detail: string | null = null;
  firstByteMs: number | null = null;
  /** Until the answer's end; what is read of it afterwards is none of it. Zero until then. */
  durationMs = 0;
  /** The upstream answered with 2xx, whole, and with no error in the answer. */
  isAnswered = false;
  answer: LlmAnswer | null = null;
  costMicroUsd: number | null = null;
  /** To be stored with its record, or not at all; null for nearly all. */
  documents: DocumentChange | null = null;

  waterfall: readonly CallStep[] = NO_STEPS;

  constructor(
    readonly id: string,
    readonly startedAtMs: number,
    readonly target: ProxyTarget,
    readonly incoming: IncomingMessage,
    readonly outgoing: ServerResponse,
  ) {}

  /** @param json the body as parsed, of a call that has a dialect */
  readAs(json: unknown): void {
    this.#json = json;
    // 0.2 ms for a megabyte, a tenth of what parsing it took.
    for (const piece of this.body?.all ?? []) this.bodyChecksum = crc32(piece, this.bodyChecksum);
    this.#request = this.#readRequest();
    const isLong = this.bodyBytes >= MEDIA_BODY_BYTES_MIN;
    this.summary = summaryOf(this.#request, isLong ? mediaExcessBytes(json) : 0);
  }

  /**
   * For a step that waits long: a call that hangs keeps its body, and not its texts twice more. What is asked for later is
   * read anew.
   */
  letGoOfParsed(): void {
    this.#json = null;
    this.#request = null;
  }

  /** What the dialect reads in the body; null where `summary` is. */
  get request(): LlmRequest | null {
    if (this.summary === null) return null;
    this.#request ??= this.#readRequest();
    return this.#request;
  }

  #readRequest(): LlmRequest {
    return (this.dialect as Dialect).readRequest(this.parsedBody(), this.path + this.target.query);
  }

  /** The request's body as a value, ids of 64 bits being texts. Not to be written to, nor to be sent on. */
  parsedBody(): unknown {
    this.#json ??= this.body?.read(parseJsonExactly) ?? null;
    return this.#json;
  }

  /** What came, also of a body that was sent on since. */
  get bodyBytes(): number {
    return this.body?.byteCount ?? 0;
  }

  /** As the request names it; null where it names none, or nobody reads it. */
  get model(): string | null {
    return (this.summary ?? this.unsettled ?? this.unread)?.model ?? null;
  }

  get tenantId(): string {
    return this.principal.tenant_id;
  }

  /** When the connection closes early, whoever hears of it first. */
  leave(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.onGone?.();
  }

  /**
   * The agent has the answer, or as much of it as it wanted: many hang up once they have read the call or the word they
   * wait for. One that left before any word came waited too long, and does right to ask again.
   */
  get wasHeard(): boolean {
    if (this.isAnswered || this.decision !== 'aborted' || this.wasShutDown) return this.isAnswered;
    const { answer } = this;
    return answer !== null && !answer.failed && (answer.text !== '' || answer.tool_calls.length > 0);
  }

  /** Milliseconds since the call began. */
  elapsedMs(): number {
    return performance.now() - this.startedMs;
  }

  /** True if the upstream was asked, whatever it said. */
  get wasSent(): boolean {
    return this.status !== 0 && (this.decision === 'forwarded' || this.decision === 'hinted');
  }
}

/** In one literal: an object with a member added to a copy has a hidden class of its own, 300 bytes for each call. */
function summaryOf(
  {
    model,
    stream,
    output_tokens_max,
    choice_count = 1,
    is_kept = false,
    answers_in_tool: answersInTool = false,
    only_warms: onlyWarms = false,
    newest,
    first_user_text,
  }: LlmRequest,
  mediaExcessBytes: number,
): RequestSummary {
  const asked = beginningOf(newest.user_text);
  // A first question is kept once.
  const askedFirst = first_user_text === newest.user_text ? asked : beginningOf(first_user_text);
  return {
    model,
    stream,
    output_tokens_max,
    choice_count,
    is_kept,
    asked,
    askedFirst,
    answersInTool,
    onlyWarms,
    mediaExcessBytes,
  };
}

/** A part of a text would keep the whole of it. */
function beginningOf(text: string): string {
  const question = questionIn(text);
  return question.length <= ASKED_CHARS_MAX && question === text
    ? text
    : ownText(question.slice(0, ASKED_CHARS_MAX));
}

/** As a call's record has it: microseconds are noise on a page. */
export const shownMs = (ms: number): number => Math.round(ms * 100) / 100;
