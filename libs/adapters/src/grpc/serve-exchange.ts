/**
 * The server's end of one `Exchange` stream: every request is answered once under its id, in whatever order they
 * finish. A peer that sends faster than it is answered is told `busy`; one that does not read its replies is cut.
 */
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { SidecarFailure } from '#contracts/embedding';
import type { ReplyFrame, RequestFrame } from './embedding-proto.js';
import { statusOfReason, toSidecarFailure } from './failure-status.js';

/** Requests of one stream being worked on. */
const STREAM_PENDING_MAX = 4_096;
/** Replies of one stream that its peer has not read yet. */
const STREAM_REPLIES_MAX = 4_096;

export type ExchangeCall = ServerDuplexStream<RequestFrame, ReplyFrame>;
export type AnswerFrame = (frame: RequestFrame) => Promise<Omit<ReplyFrame, 'id'>>;

export class ExchangeStream {
  readonly #call: ExchangeCall;
  readonly #answer: AnswerFrame;
  #pendingCount = 0;
  #isDraining = false;
  #isOver = false;

  /** @param onOver called once, when nothing more will be sent */
  constructor(call: ExchangeCall, answer: AnswerFrame, onOver: () => void) {
    this.#call = call;
    this.#answer = answer;
    const over = (): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      onOver();
    };
    call.on('data', (frame: RequestFrame) => void this.#take(frame));
    call.on('end', () => this.drain());
    call.on('cancelled', over);
    call.on('error', over);
    call.on('close', over);
    call.on('finish', over);
    // The peer takes the stream for open when the headers come.
    call.sendMetadata(new Metadata());
  }

  /** Takes no more requests, answers those it has, ends. */
  drain(): void {
    this.#isDraining = true;
    this.#endWhenDone();
  }

  /** What it still has is not answered. */
  cut(): void {
    if (!this.#isOver) this.#call.emit('error', { code: status.UNAVAILABLE, details: 'shutting down' });
  }

  async #take(frame: RequestFrame): Promise<void> {
    if (this.#isDraining) return this.#refuse(frame.id, new SidecarFailure('unavailable', 'shutting down'));
    if (this.#pendingCount >= STREAM_PENDING_MAX)
      return this.#refuse(frame.id, new SidecarFailure('busy', 'too many requests on this stream'));
    this.#pendingCount += 1;
    try {
      this.#send({ id: frame.id, ...(await this.#answer(frame)) });
    } catch (error) {
      this.#refuse(frame.id, toSidecarFailure(error));
    } finally {
      this.#pendingCount -= 1;
      if (this.#isDraining) this.#endWhenDone();
    }
  }

  #refuse(id: number, { reason, message }: SidecarFailure): void {
    this.#send({ id, failure: { code: statusOfReason(reason), message } });
  }

  #send(reply: ReplyFrame): void {
    if (this.#isOver) return;
    if (this.#call.writableLength >= STREAM_REPLIES_MAX) {
      this.#call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: 'replies are not read' });
      return;
    }
    this.#call.write(reply);
  }

  #endWhenDone(): void {
    if (this.#pendingCount === 0 && !this.#isOver) this.#call.end();
  }
}
