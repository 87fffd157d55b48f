/** What the thread of a model does with a request. Free of the thread itself, so that it also runs in the caller's. */
import { lineOf } from './line-of.js';
import { isUnit, openModel } from './open-model.js';
import type { InferenceAnswer, InferenceText, ModelSettings, TextAnswer } from './protocol.js';

export interface ServedModel {
  opened: InferenceAnswer;
  /** One after another, in the order of asking. Never rejects: a failure is an answer. */
  embed(text: InferenceText): Promise<TextAnswer>;
  close(): Promise<void>;
}

/** Does a piece of work of the runtime's, or holds it back. */
type Guard = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Never rejects: a model that cannot be opened answers `unopened`, and serves nothing.
 *
 * @param guard around the work for each text; not around opening, which is the caller's
 */
export async function serveModel(
  settings: ModelSettings,
  guard: Guard = (work) => work(),
): Promise<ServedModel> {
  try {
    const model = await openModel(settings);
    let last: Promise<unknown> = Promise.resolve();
    const embedNow = async ({ id, text }: InferenceText): Promise<TextAnswer> => {
      const startedMs = performance.now();
      try {
        const { fitness, vector, tokensCount } = await model.embed(text);
        if (vector !== null && !isUnit(vector)) throw new Error('the vector has no direction');
        return {
          kind: 'embedded',
          id,
          fitness,
          vector,
          tokensCount,
          computeMs: performance.now() - startedMs,
        };
      } catch (error) {
        return { kind: 'failed', id, detail: lineOf(error) };
      }
    };
    return {
      opened: { kind: 'opened', description: model.description },
      embed: (text) => {
        const answer = last.then(() => guard(() => embedNow(text)));
        last = answer;
        return answer;
      },
      close: async () => {
        await last;
        await guard(() => model.release());
      },
    };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return {
      opened: { kind: 'unopened', detail },
      embed: async ({ id }) => ({ kind: 'failed', id, detail: 'no model is open' }),
      close: async () => {},
    };
  }
}
