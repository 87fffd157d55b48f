/**
 * The ordinary message, recognised without the schema library: everything in its place, nothing unknown, nothing to
 * explain. A schema that can say what is wrong costs ten times what it takes to see that nothing is.
 *
 * It only ever says yes or "ask the schema": `parseDecisionLog` keeps the last word on whatever is not plain, so a
 * member added to the schema is at worst slower until it is known here. Where this says yes, the schema says yes and
 * returns an equal log; plain-log.prop.spec.ts holds both to it.
 *
 * The same walk counts how long the message is as compact JSON, which tells, without writing it out, whether the text
 * it came from is that JSON already.
 */
import {
  ACTION_STATUSES,
  ADDRESSABLE_ID,
  AGENT_ID,
  DATE_TIME,
  INTERRUPT_SIGNALS,
  LIMITS,
  SEVERITIES,
} from '#contracts';
import { isUnsafeKey } from './json-guard.js';

/** Not plain. Any sum it takes part in is NaN, and a NaN equals no length. */
const ODD = Number.NaN;

const { idCharsMax, lineCharsMax, textCharsMax, listCountMax, jsonDepthMax } = LIMITS;

/** `compact`: plain, and the text is to the character what JSON.stringify makes of the message. */
export type Plainness = 'odd' | 'plain' | 'compact';

/**
 * Some 2 us for an ordinary log, linear in its size; never throws.
 *
 * @param text what JSON.parse made the message of; null where it came without
 */
export function plainnessOf(message: unknown, text: string | null): Plainness {
  const chars = compactChars(message);
  if (Number.isNaN(chars)) return 'odd';
  return chars === text?.length ? 'compact' : 'plain';
}

/**
 * Characters of the message as JSON without white space and escapes. A text of just that many, which became this
 * message, is that JSON: white space, an escape or a key named twice would each have made it longer, and nothing in
 * it can be written shorter. Infinity where that cannot be told; NaN if the message is not plain.
 */
function compactChars(message: unknown): number {
  if (!isObject(message)) return ODD;
  let chars = 1;
  let required = 0;
  for (const section in message) {
    const value = message[section];
    chars += section.length + 4;
    switch (section) {
      case 'meta':
        required += 1;
        chars += metaChars(value);
        break;
      case 'identity':
        required += 1;
        chars += identityChars(value);
        break;
      case 'cognition':
        required += 1;
        chars += cognitionChars(value);
        break;
      case 'action':
        required += 1;
        chars += actionChars(value);
        break;
      case 'state_delta':
        chars += value === null ? 4 : stateDeltaChars(value);
        break;
      case 'control':
        chars += value === null ? 4 : controlChars(value);
        break;
      default:
        return ODD;
    }
  }
  return required === 4 ? chars : ODD;
}

// Each section: `{`, then per member its quoted key, a colon, the value and a comma, of which the last stands for `}`.

function metaChars(meta: unknown): number {
  if (!isObject(meta)) return ODD;
  let chars = 1;
  let required = 0;
  for (const key in meta) {
    const value = meta[key];
    chars += key.length + 4;
    switch (key) {
      case 'trace_id':
        required += 1;
        chars += addressableChars(requiredChars(value, idCharsMax), value);
        break;
      case 'timestamp':
        required += 1;
        chars += typeof value === 'string' && DATE_TIME.test(value) ? value.length + 2 : ODD;
        break;
      case 'session_id':
        chars += addressableChars(optionalChars(value, idCharsMax), value);
        break;
      case 'parent_step_id':
      case 'cluster_id':
      case 'source_app':
        chars += optionalChars(value, idCharsMax);
        break;
      default:
        return ODD;
    }
  }
  return required === 2 ? chars : ODD;
}

function identityChars(identity: unknown): number {
  if (!isObject(identity)) return ODD;
  let chars = 1;
  let required = 0;
  for (const key in identity) {
    const value = identity[key];
    chars += key.length + 4;
    switch (key) {
      case 'agent_id':
        required += 1;
        chars += addressableChars(requiredChars(value, idCharsMax), value, AGENT_ID);
        break;
      case 'agent_type':
      case 'capability_version':
        required += 1;
        chars += requiredChars(value, idCharsMax);
        break;
      case 'model_name':
        chars += optionalChars(value, idCharsMax);
        break;
      default:
        return ODD;
    }
  }
  return required === 3 ? chars : ODD;
}

const addressableChars = (chars: number, id: unknown, pattern = ADDRESSABLE_ID): number =>
  typeof id !== 'string' || pattern.test(id) ? chars : ODD;

function cognitionChars(cognition: unknown): number {
  if (!isObject(cognition)) return ODD;
  let chars = 1;
  let required = 0;
  for (const key in cognition) {
    const value = cognition[key];
    chars += key.length + 4;
    switch (key) {
      case 'intent':
        required += 1;
        chars += requiredChars(value, lineCharsMax);
        break;
      case 'reasoning_chain':
        chars += textsChars(value);
        break;
      case 'confidence_score':
      case 'entropy_score':
        chars += numberChars(value, 1);
        break;
      case 'strategy_used':
        chars += optionalChars(value, lineCharsMax);
        break;
      case 'entropy_severity':
        chars += oneOfChars(value, SEVERITIES);
        break;
      default:
        return ODD;
    }
  }
  return required === 1 ? chars : ODD;
}

function actionChars(action: unknown): number {
  if (!isObject(action)) return ODD;
  let chars = 1;
  let required = 0;
  for (const key in action) {
    const value = action[key];
    chars += key.length + 4;
    switch (key) {
      case 'status':
        required += value === null ? 0 : 1;
        chars += oneOfChars(value, ACTION_STATUSES);
        break;
      case 'tool_call':
        chars += optionalChars(value, lineCharsMax);
        break;
      case 'tool_input':
        chars += isObject(value) ? anyChars(value, 3) : optionalChars(value, textCharsMax);
        break;
      case 'tool_output_summary':
        chars += optionalChars(value, textCharsMax);
        break;
      case 'duration_ms':
        chars += numberChars(value, Number.MAX_VALUE);
        break;
      default:
        return ODD;
    }
  }
  return required === 1 ? chars : ODD;
}

function stateDeltaChars(delta: unknown): number {
  if (!isObject(delta)) return ODD;
  let chars = 1;
  for (const key in delta) {
    const value = delta[key];
    chars += key.length + 4;
    switch (key) {
      case 'added_to_memory':
        chars += textsChars(value);
        break;
      case 'tokens_consumed':
        chars += value === null || Number.isSafeInteger(value) ? numberChars(value, Number.MAX_VALUE) : ODD;
        break;
      case 'cumulative_session_cost':
        chars += numberChars(value, Number.MAX_VALUE);
        break;
      default:
        return ODD;
    }
  }
  return chars === 1 ? 2 : chars;
}

function controlChars(control: unknown): number {
  if (!isObject(control)) return ODD;
  let chars = 1;
  for (const key in control) {
    const value = control[key];
    chars += key.length + 4;
    switch (key) {
      case 'hitl_required':
      case 'is_terminal':
        if (value === false) chars += 5;
        else chars += value === true || value === null ? 4 : ODD;
        break;
      case 'interrupt_signal':
        chars += oneOfChars(value, INTERRUPT_SIGNALS);
        break;
      default:
        return ODD;
    }
  }
  return chars === 1 ? 2 : chars;
}

function requiredChars(value: unknown, charsMax: number): number {
  return typeof value === 'string' && value !== '' && value.length <= charsMax ? value.length + 2 : ODD;
}

function optionalChars(value: unknown, charsMax: number): number {
  if (typeof value === 'string') return value.length <= charsMax ? value.length + 2 : ODD;
  return value === null ? 4 : ODD;
}

/** From 0 to `max`, or null. */
function numberChars(value: unknown, max: number): number {
  if (typeof value === 'number') return value >= 0 && value <= max ? digitsOf(value) : ODD;
  return value === null ? 4 : ODD;
}

function oneOfChars(value: unknown, words: readonly string[]): number {
  if (value === null) return 4;
  return typeof value === 'string' && words.includes(value) ? value.length + 2 : ODD;
}

function textsChars(value: unknown): number {
  if (value === null) return 4;
  if (!Array.isArray(value) || value.length > listCountMax) return ODD;
  let chars = 1;
  for (const text of value) {
    if (typeof text !== 'string' || text.length > textCharsMax) return ODD;
    chars += text.length + 3;
  }
  return chars === 1 ? 2 : chars;
}

/** Whatever stands in `tool_input`. @param depth of `value`, the message itself being 1 */
function anyChars(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return Number.isFinite(value) ? digitsOf(value) : ODD;
  if (value === null || value === true) return 4;
  if (value === false) return 5;
  if (depth > jsonDepthMax) return ODD;
  let chars = 1;
  if (Array.isArray(value)) {
    for (const element of value) chars += anyChars(element, depth + 1) + 1;
    return chars === 1 ? 2 : chars;
  }
  if (!isObject(value)) return ODD;
  for (const key in value) {
    // Keys that are numbers change places in an object, and some names reach its prototype.
    if (key.charCodeAt(0) <= 0x39 || isUnsafeKey(key)) return ODD;
    chars += key.length + 4 + anyChars(value[key], depth + 1);
  }
  return chars === 1 ? 2 : chars;
}

/**
 * Of a number as JSON.stringify writes it. Infinity for one that could be written shorter (1e3, 31e-4), or otherwise
 * with as many digits: beyond 15 of them several decimals are one number.
 */
function digitsOf(value: number): number {
  if (value >= 0 && value < 1_000 && Number.isInteger(value)) {
    if (value < 10) return 1;
    return value < 100 ? 2 : 3;
  }
  const { length } = String(value);
  const hasShorter = value % 1_000 === 0 || Math.abs(value) < 0.01;
  return hasShorter || length > 16 ? Number.POSITIVE_INFINITY : length;
}

/** An object as a literal or JSON.parse makes it. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
