/**
 * An upstream's answer on its way to the client: chunk by chunk, at the pace the client reads, and read along. A client that
 * leaves takes the upstream's connection with it, unless its stream has said its last, and so does one that reads no more.
 */
import type { UpstreamExchange, UpstreamFailure, UpstreamSink } from '#adapters/upstream-http';
import type { LlmAnswer } from '#contracts';
import { defaultDialect } from '#domain/llm-dialects';
import { afterTurnEnd } from '#kernel';
import type { RunningCalls } from '../calls/running-calls.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { refusedForNow } from '../refusals.js';
import type { BodyRoom } from '../requests/body-room.js';
import type { AnswerRoom } from './answer-room.js';
import { awaitDrain, closeUnlessTaken } from './client-pace.js';
import { ErrorReader } from './error-reader.js';
import { encodingsOf, headerOf, isEventStream, responseHeaders } from './forwarded-headers.js';
import { KeyMask, maskKey, maskKeyInHeaders } from './key-mask.js';
import { BatchAnswer, nameOwnAddresses, type OwnOrigin, redirectRefused } from './own-addresses.js';
import { ownHeaders, UNBUFFERED } from './own-reply.js';
import { PackedError } from './packed-error.js';
import { readerOf } from './reader-of-answer.js';
import { misfitOf, redirected, unreachable, unreadable } from './upstream-words.js';

export interface RelayParts {
  /** For what is held back. */
  room: BodyRoom;
  /** For what is kept while it is read. */
  answerRoom: AnswerRoom;
  /** The client may read nothing for so long. */
  clientStallMs: number;
  ownOrigin: OwnOrigin;
  running: Pick<RunningCalls, 'writeTogether'>;
}

type Resolve = (verdict: Verdict | Promise<Verdict | undefined>) => void;

/** Hands the upstream's answer to the client, and ends the step when one of the two is done. */
export class Relay implements UpstreamSink {
  readonly #call: ProxyCall;
  readonly #parts: RelayParts;
  readonly #resolve: Resolve;
  #exchange: UpstreamExchange | null = null;
  #reader: ReturnType<typeof readerOf> = null;
  /** Null: no error. */
  #error: ErrorReader | null = null;
  /** The stream was begun while the call was held, and this is why the upstream's answer cannot go on in it: it becomes an event. */
  #misfit: string | null = null;
  /** Null: nothing in the answer is ours to change, or no more. */
  #batches: BatchAnswer | null = null;
  /** Null: it is no error, or plain, or may say what it likes. */
  #packed: PackedError | null = null;
  /** Null: the answer may say what it likes. */
  #mask: KeyMask | null = null;
  /** Of an answer that is held back. */
  #head: string[] = [];
  /** Undefined: the standard's own for the status. */
  #reason: string | undefined;
  /** The client is being given what the upstream says. */
  #isPassing = false;
  /** NaN where the upstream did not say, or what came may be held back: the last chunk, known as such, leaves in one write with the end. */
  #bytesToCome = Number.NaN;
  #stopWaiting: (() => void) | null = null;
  /** The answer is a stream of events, to which one more can be added. */
  #takesEvents = false;
  /** What of it the client has been given ends within an event. */
  #isWithinEvent = false;
  /** Its end leaves with this turn, if it has not left yet. */
  #isEnding = false;
  #isOver = false;

  constructor(call: ProxyCall, parts: RelayParts, resolve: Resolve) {
    this.#call = call;
    this.#parts = parts;
    this.#resolve = resolve;
  }

  start(exchange: UpstreamExchange): void {
    // An exchange can fail before anybody holds it.
    if (this.#isOver) return;
    this.#exchange = exchange;
    this.#call.onGone = () => {
      const leftAtEnd = this.#isTold;
      this.#call.leftAtEnd = leftAtEnd;
      if (leftAtEnd) exchange.letEnd();
      else exchange.abort();
      this.#end(leftAtEnd);
    };
    if (this.#call.isGone) this.#call.onGone();
  }

  /** False: nothing is to be sent any more. */
  get isOpen(): boolean {
    return !this.#isOver;
  }

  /** The call ends here, whatever the upstream still has to say: what has begun to go to the client is not made to look whole. */
  cutOff(verdict: Verdict): void {
    if (this.#isOver || this.#isEnding) return;
    this.#exchange?.abort();
    const { outgoing } = this.#call;
    if (this.#isPassing && !this.#takesEvents) outgoing.destroy();
    else if (this.#isWithinEvent) outgoing.write(EVENT_END);
    closeUnlessTaken(outgoing, this.#parts.clientStallMs);
    this.#end(false, verdict);
  }

  sent(): void {
    this.#call.wasTakenUp = true;
  }

  head(status: number, headers: string[], reason: string): void {
    const call = this.#call;
    call.status = status;
    if (STATUS_LINE_TEXT.test(reason)) this.#reason = maskKey(reason, call.upstream.apiKey);
    call.firstByteMs = call.elapsedMs();
    const isAnswer = isGood(status);
    call.wasTakenUp = isAnswer;
    if (isAnswer) this.#reader = readerOf(call, headers, this.#parts.answerRoom);
    else if (status >= 400) this.#error = new ErrorReader();
    const encodings = encodingsOf(headers);
    const takesEvents = isEventStream(headers) && encodings.length === 0;
    if (!isAnswer || encodings.length === 0) this.#mask = KeyMask.for(call.upstream.apiKey);
    if (call.outgoing.headersSent) {
      this.#takesEvents = takesEvents;
      this.#misfit = misfitOf(status, headers);
      this.#isPassing = this.#misfit === null;
      return;
    }
    // Behind a length that was named the client takes no more than that, and waits for it.
    this.#takesEvents = takesEvents && headerOf(headers, 'content-length') === undefined;
    const elsewhere = redirectRefused(call, status, headers);
    if (elsewhere !== null) {
      this.#refuseRedirect(elsewhere);
      return;
    }
    const { ownOrigin, answerRoom } = this.#parts;
    if (isAnswer) this.#batches = BatchAnswer.for(call, headers, ownOrigin);
    else if (this.#mask !== null && encodings.length > 0) {
      this.#packed = new PackedError({ headers, encodings, mask: this.#mask, room: answerRoom });
      return;
    }
    this.#head = this.#headOf(headers, this.#batches === null ? null : NO_LENGTH);
    if (this.#batches !== null) return;
    this.#sendHead();
    this.#bytesToCome = Number(headerOf(headers, 'content-length') ?? Number.NaN);
  }

  chunk(came: Buffer): boolean {
    if (this.#packed !== null) {
      if (!this.#packed.push(came)) this.#endHere();
      return true;
    }
    return this.#take(this.#mask === null ? came : this.#mask.push(came));
  }

  /** The client first: it need not wait for our reading. @param said without a key of ours */
  #take(said: Buffer): boolean {
    const bytes = this.#batches === null ? said : this.#holdBack(this.#batches, said);
    const wantsMore = bytes === null || this.#misfit !== null || this.#pass(bytes);
    this.#reader?.push(said);
    this.#error?.push(said);
    return wantsMore;
  }

  /** @returns false while the client has enough */
  #pass(bytes: Buffer): boolean {
    const { outgoing } = this.#call;
    this.#bytesToCome -= bytes.length;
    if (this.#takesEvents) this.#isWithinEvent = !endsEvent(bytes);
    if (this.#bytesToCome === 0) {
      this.#isEnding = true;
      this.#parts.running.writeTogether(() => outgoing.end(bytes));
      return true;
    }
    if (outgoing.write(bytes)) return true;
    this.#awaitClient(() => this.#exchange?.resume());
    return false;
  }

  end(): void {
    const { dialect, status, outgoing } = this.#call;
    const packed = this.#packed;
    if (packed !== null) {
      packed.finish().then((error) => this.#endPacked(packed.headers, error));
      return;
    }
    const held = this.#mask?.finish();
    if (held?.length) this.#take(held);
    if (this.#isOver) return;
    if (this.#misfit !== null)
      outgoing.end(dialect?.writeStreamError({ status, code: 'upstream_error', message: this.#misfit }));
    else if (this.#batches !== null) {
      this.#endHeldBack(this.#batches.finish());
      return;
    } else if (!this.#isEnding) outgoing.end();
    this.#end(isGood(status));
  }

  /** The upstream need not go on, which it might do for ever. */
  #endHere(): void {
    this.#exchange?.abort();
    this.end();
  }

  failed(failure: UpstreamFailure, code: string): void {
    const call = this.#call;
    const hadHead = call.firstByteMs !== null;
    call.decision = 'upstream_failed';
    call.detail = `${failure} (${code})`;
    if (!hadHead || this.#isHeldBack) {
      const isLate = failure === 'timeout';
      if (!isLate && !hadHead) call.wasTakenUp = false;
      this.#finish({
        kind: 'refuse',
        decision: 'upstream_failed',
        code: isLate ? 'upstream_timeout' : 'upstream_unreachable',
        detail: isLate
          ? `The upstream ${call.upstream.name} did not answer in time.`
          : unreachable(call.upstream, failure, code),
      });
      return;
    }
    // Too late for an error: a cut connection is the only honest way to say that the answer is not whole.
    call.outgoing.destroy();
    this.#end();
  }

  /** @param dropped headers that say what is no longer so */
  #headOf(headers: string[], dropped: Readonly<Record<string, string>> | null): string[] {
    const call = this.#call;
    // What we say of limits is about this agent; what the vendor says is about its whole account.
    const replaced = dropped === null ? call.answerHeaders : { ...call.answerHeaders, ...dropped };
    const kept = responseHeaders(headers, replaced);
    maskKeyInHeaders(kept, call.upstream.apiKey);
    nameOwnAddresses(call, kept, this.#parts.ownOrigin);
    kept.push(...ownHeaders(call));
    const isStream = call.summary?.stream === true || isEventStream(headers);
    if (isStream && headerOf(headers, UNBUFFERED[0] as string) === undefined) kept.push(...UNBUFFERED);
    return kept;
  }

  /** To a client that leaves by itself: who is let go has its reason in the call's detail. */
  get #isTold(): boolean {
    const { detail, summary } = this.#call;
    // The end of one of several choices is not the answer's.
    return detail === null && (summary?.choice_count ?? 1) === 1 && this.#reader?.isComplete === true;
  }

  /** Head and all. */
  get #isHeldBack(): boolean {
    return this.#batches !== null || this.#packed !== null;
  }

  #sendHead(): void {
    this.#isPassing = true;
    this.#call.outgoing.writeHead(this.#call.status, this.#reason, this.#head);
  }

  /** What of the answer may go on. */
  #holdBack(batches: BatchAnswer, came: Buffer): Buffer | null {
    const hasRoom = this.#parts.room.take(came.length);
    // Only what changes nothing at the vendor may be tried again.
    if (!hasRoom && this.#call.incoming.method === 'GET') {
      this.#refuse(NO_BYTES);
      return null;
    }
    const bytes = batches.push(came, hasRoom);
    if (bytes !== null) {
      this.#batches = null;
      this.#sendHead();
    }
    return bytes;
  }

  /** The call goes on, and its bytes stay taken, until the client has taken them, too. */
  #endHeldBack(bytes: Buffer): void {
    const { outgoing } = this.#call;
    const end = () => {
      outgoing.end();
      this.#end(isGood(this.#call.status));
    };
    this.#isEnding = true;
    this.#sendHead();
    if (outgoing.write(bytes)) end();
    else this.#awaitClient(end);
  }

  /** @param error null: nobody here can read it, and its status and headers are all that can be told */
  #endPacked(headers: string[], error: Buffer | null): void {
    if (this.#isOver) return;
    if (error !== null) {
      this.#error?.push(error);
      this.#head = this.#headOf(headers, PLAIN);
      this.#endHeldBack(error);
      return;
    }
    const { dialect, status, upstream } = this.#call;
    const { contentType, body } = (dialect ?? defaultDialect(upstream.kind)).writeError({
      status,
      code: 'upstream_error',
      message: unreadable(upstream, status),
    });
    this.#head = [...this.#headOf(headers, OWN_WORDS), 'content-type', contentType];
    this.#endHeldBack(Buffer.from(body));
  }

  #awaitClient(onDrain: () => void): void {
    const { incoming, outgoing } = this.#call;
    const { clientStallMs: stallMs } = this.#parts;
    this.#stopWaiting = awaitDrain({ incoming, outgoing, stallMs, onDrain, onStall: () => this.#giveUp() });
  }

  #refuse(verdict: Verdict): void {
    this.#exchange?.abort();
    this.#finish(verdict);
  }

  #refuseRedirect(elsewhere: string): void {
    this.#refuse({
      kind: 'refuse',
      decision: 'upstream_failed',
      code: 'upstream_unreachable',
      detail: redirected(this.#call.upstream, elsewhere),
      shouldRetry: false,
    });
  }

  /** The connection goes, and every call on it leaves. */
  #giveUp(): void {
    this.#call.detail = `The client read nothing for ${this.#parts.clientStallMs / 1_000} s.`;
    this.#call.incoming.socket.destroy();
    this.#call.leave();
  }

  /** What went by is read when its last bytes have left: the client need not wait for our reading. */
  #end(isWhole = false, verdict?: Verdict): void {
    this.#call.durationMs = this.#call.elapsedMs();
    const taken = afterTurnEnd().then(() => this.#takeAnswer(isWhole));
    this.#finish(verdict === undefined ? taken : taken.then(() => verdict));
  }

  #takeAnswer(isWhole: boolean): undefined | Promise<undefined> {
    const errorName = this.#error?.finish() ?? null;
    if (errorName !== null) this.#call.detail ??= `The vendor's error: ${errorName}.`;
    const read = this.#reader?.finish() ?? null;
    // What is inflated first; all else is there, and costs no turn.
    return read instanceof Promise
      ? read.then((answer) => this.#keepAnswer(answer, isWhole))
      : this.#keepAnswer(read, isWhole);
  }

  #keepAnswer(answer: LlmAnswer | null, isWhole: boolean): undefined {
    const call = this.#call;
    call.answer = answer;
    // To fetch an answer that has failed does not fail.
    if (call.answer?.failed && call.unsettled === null) noteFailedAnswer(call, call.answer);
    else call.isAnswered = isWhole;
  }

  #finish(verdict: Verdict | Promise<Verdict | undefined>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopWaiting?.();
    this.#call.onGone = null;
    if (this.#exchange?.isLetGo === false) this.#call.bodyHolder = this.#exchange;
    this.#resolve(verdict);
  }
}

/** What Node writes, and anybody reads. */
const STATUS_LINE_TEXT = /^[ -~]+$/;

const isGood = (status: number): boolean => status >= 200 && status < 300;

/** Overloaded vendors often say so behind a status of 200. What had begun by then costs. */
function noteFailedAnswer(call: ProxyCall, { text, tool_calls, chars_beside, usage }: LlmAnswer): void {
  call.decision = 'upstream_failed';
  call.detail ??= 'The upstream sent an error as its answer, or in the middle of it.';
  if (text === '' && tool_calls.length === 0 && !chars_beside && usage === null) call.wasTakenUp = false;
}

/** A blank line. Cheap: asked of every chunk. */
const endsEvent = (bytes: Buffer): boolean =>
  bytes.at(-1) === LINE_FEED && (bytes.at(-2) === LINE_FEED || bytes.at(-3) === LINE_FEED);
const LINE_FEED = 0x0a;
const EVENT_END = '\n\n';

/** Addresses of ours are longer or shorter than the upstream's. */
const NO_LENGTH = { 'content-length': '' };
const PLAIN = { ...NO_LENGTH, 'content-encoding': '' };
const OWN_WORDS = { ...PLAIN, 'content-type': '' };
const NO_BYTES = refusedForNow('too_many_bytes');
