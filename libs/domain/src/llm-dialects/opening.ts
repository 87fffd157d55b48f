/**
 * How a conversation began: what its client told the model, and what it was asked first. Coding agents of the command line put
 * their surroundings in front of the question, in a part or a message of their own: nobody asked those, and they are the same
 * whatever is asked.
 */
import { collectTexts, type ReadPart } from './content-parts.js';
import { partScratchpad } from './observation.js';

/** Claude Code's, Codex's, Gemini CLI's and Copilot CLI's. */
const SURROUNDINGS = /\s*<(system-reminder|environment_context|session_context|current_datetime)>/y;

/** Where in a text they end that stand in front of it; 0 for none. */
function surroundingsEnd(text: string): number {
  let end = 0;
  for (;;) {
    SURROUNDINGS.lastIndex = end;
    const name = SURROUNDINGS.exec(text)?.[1];
    if (name === undefined) return end;
    const closing = `</${name}>`;
    const at = text.indexOf(closing, end);
    if (at === -1) return end;
    end = at + closing.length;
  }
}

/** Whether there is anything but surroundings in it. */
function isAsked(text: string): boolean {
  const end = surroundingsEnd(text);
  return end === 0 || text.slice(end).trim() !== '';
}

/**
 * What a step and its session are called by: the question without the surroundings that came in one text with it. Of surroundings
 * alone all. Conversations are told apart by the whole: of Copilot CLI the time in front is all that tells its runs apart.
 */
export const questionIn = (text: string): string =>
  isAsked(text) ? text.slice(surroundingsEnd(text)) : text;

/** What of the parts was asked; of surroundings alone all, unless something else came with them. */
export function askedOf(texts: readonly string[], isAlone = true): string {
  const asked = texts.filter(isAsked);
  return (asked.length === 0 && isAlone ? texts : asked).join('\n');
}

export class Opening {
  readonly #system: string[] = [];
  readonly #user: string[] = [];
  #isAsked = false;

  addSystem(text: string): void {
    this.#system.push(text);
  }

  /** Of a user's message; after the first that asks something there is nothing to add. */
  addUser(content: unknown, readPart: ReadPart): void {
    if (this.#isAsked) return;
    const before = this.#user.length;
    const texts = collectTexts(content, readPart, this.#user).slice(before);
    this.#isAsked = texts.length === 0 || texts.some(isAsked);
  }

  /** What the model says from now on, and what it is told, is no part of it: a reminder on the way begins no other conversation. */
  get isOver(): boolean {
    return this.#isAsked;
  }

  /** "" for none. */
  get systemText(): string {
    return this.#system.filter((text) => text !== '').join('\n');
  }

  /** "" for none. Without the words of the model that stand in the same message. */
  get firstUserText(): string {
    return partScratchpad(askedOf(this.#user)).asked;
  }
}
