/**
 * What the shell of a coding agent writes around the output of a command that has ended: its own number for the run, its
 * stopwatch, a process's id. The command said none of it, and no two runs are alike in it, so nobody would ever repeat himself.
 * Of a command that still runs the time is the news.
 */

/** Codex. */
const NUMBER_AND_TIME = /^Chunk ID: [0-9a-f]+\nWall time: [\d.]+ seconds\n(?=Process exited with code )/;
/** Gemini CLI. */
const PROCESS_ID = /\nProcess Group PGID: \d+(?=(?:\n<\/untrusted_context>)?\s*$)/;

export const withoutRunMarks = (result: string): string =>
  result.replace(NUMBER_AND_TIME, '').replace(PROCESS_ID, '');
