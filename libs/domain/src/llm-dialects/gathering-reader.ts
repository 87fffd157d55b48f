/** What the readers of all streams share: bytes are cut into events, and what events bring is gathered. */
import type { LlmAnswer } from '#contracts';
import { AnswerGatherer } from './answer-gatherer.js';
import type { StreamReader } from './dialect.js';

/** Cuts a stream into its events, and hands each to whoever made it. */
type EventCutter = Pick<StreamReader, 'push' | 'end' | 'keptCount'> & {
  /** Events left out because they were beyond the limits. */
  readonly skippedCount: number;
};

export abstract class GatheringReader implements StreamReader {
  protected readonly gatherer = new AnswerGatherer();
  protected abstract readonly cutter: EventCutter;
  abstract readonly isComplete: boolean;

  push(chunk: Uint8Array): void {
    this.cutter.push(chunk);
  }

  end(): void {
    this.cutter.end();
  }

  answer(): LlmAnswer {
    const answer = this.gatherer.toAnswer();
    answer.lossless &&= this.isComplete && !this.isTruncated;
    return answer;
  }

  get keptCount(): number {
    return this.gatherer.keptCount + this.cutter.keptCount;
  }

  get isTruncated(): boolean {
    return this.gatherer.isTruncated || this.cutter.skippedCount > 0;
  }
}
