/**
 * Whether a tool's result says that the tool failed. OpenAI's formats have no field for it, and frameworks leave out that of
 * Anthropic's: they hand the exception to the model as a text. So what is read is how such texts begin (LangGraph, OpenAI's
 * Agents SDK, Node and Python themselves, Codex' shell), how the shells of pi, Copilot CLI, Qwen Code and Gemini CLI end, and what an
 * object says of itself.
 */
import { asRecord, type JsonRecord } from './read-json.js';

/** Of a longer result the beginning; a longer object is not read. */
const CHARS_READ = 4_096;
/** Of its end. */
const END_CHARS_READ = 512;

const BEGINNINGS = [
  /^(?:\[ERROR\] )?Error(?:: | (?:executing|invoking) tool )/,
  /^An error occurred while running the tool\b/,
  /^The tool has failed; the error log is shown below\./,
  /^(?:\w+\.)*[A-Z]\w*(?:Error|Exception): /,
  /^Traceback \(most recent call last\):/,
  /^E[A-Z]{3,}: /,
  /^(?:Chunk ID: \w+\n)?Wall time: [\d.]+ seconds\nProcess exited with code [1-9]/,
];

const ENDINGS = [
  /\nCommand exited with code [1-9]\d*$/,
  /(?:^|\n)<shellId: \S+ completed with exit code -?[1-9]\d*>$/,
  /\nExit Code: [1-9]\d*(?:\n(?:Signal|Background PIDs): .*)*\nProcess Group PGID: \d+(?:\n<\/untrusted_context>)?$/,
];

export function tellsFailure(result: string): boolean {
  const beginning = result.slice(0, CHARS_READ).trimStart();
  if (beginning.startsWith('{')) return result.length <= CHARS_READ && isFailedObject(beginning);
  const end = result.slice(-END_CHARS_READ).trimEnd();
  return (
    BEGINNINGS.some((pattern) => pattern.test(beginning)) || ENDINGS.some((pattern) => pattern.test(end))
  );
}

function isFailedObject(text: string): boolean {
  try {
    return saysFailure(asRecord(JSON.parse(text)));
  } catch {
    return false;
  }
}

/** Whether an object says of itself that it is a failure; none says nothing. */
export const saysFailure = ({ error, isError, is_error }: JsonRecord = {}): boolean =>
  Boolean(error) || isError === true || is_error === true;
